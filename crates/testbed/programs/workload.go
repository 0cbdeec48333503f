// What runs in the pods of tests, in an image that holds nothing else: an HTTP server, and clients that say in one line
// what they saw. Clients end with 1 where there is no answer.
package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

const (
	// How long a client waits for all of its answer.
	timeout = 5 * time.Second
	// Bodies are one line.
	bodyLimit = 64 << 10
)

const usage = `usage: workload COMMAND
  serve ADDRESS       answer HTTP requests with the host's name and the path, and print each
  get URL             print the body of the answer
  resolve NAME        print the addresses of a name
  connect HOST:PORT   open a TCP connection and close it
  forward FROM TO     accept TCP connections at an address and send what comes in to another
  copy                copy standard input to standard output
  echo WORD...        print the words
  wait                wait until SIGTERM or SIGINT
`

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(arguments []string) error {
	switch {
	case len(arguments) == 2 && arguments[0] == "serve":
		return serve(arguments[1])
	case len(arguments) == 2 && arguments[0] == "get":
		return get(arguments[1])
	case len(arguments) == 2 && arguments[0] == "resolve":
		return resolve(arguments[1])
	case len(arguments) == 2 && arguments[0] == "connect":
		return connect(arguments[1])
	case len(arguments) == 3 && arguments[0] == "forward":
		return forward(arguments[1], arguments[2])
	case len(arguments) == 1 && arguments[0] == "copy":
		_, err := io.Copy(os.Stdout, os.Stdin)
		return err
	case len(arguments) > 0 && arguments[0] == "echo":
		fmt.Println(strings.Join(arguments[1:], " "))
		return nil
	case len(arguments) == 1 && arguments[0] == "wait":
		<-ended()
		return nil
	}
	fmt.Fprint(os.Stderr, usage)
	return fmt.Errorf("unknown command %q", strings.Join(arguments, " "))
}

// A process that is the first of its container gets no default for these signals.
func ended() <-chan os.Signal {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	return signals
}

func serve(address string) error {
	host, err := os.Hostname()
	if err != nil {
		return err
	}
	handler := func(writer http.ResponseWriter, request *http.Request) {
		fmt.Printf("%s %s from %s\n", request.Method, request.URL.Path, request.RemoteAddr)
		fmt.Fprintf(writer, "%s %s\n", host, request.URL.Path)
	}
	server := &http.Server{Addr: address, Handler: http.HandlerFunc(handler), ReadHeaderTimeout: timeout}
	failed := make(chan error, 1)
	go func() { failed <- server.ListenAndServe() }()
	fmt.Println("serving on", address)
	select {
	case err := <-failed:
		return err
	case <-ended():
		return server.Close()
	}
}

func get(url string) error {
	client := http.Client{Timeout: timeout}
	answer, err := client.Get(url)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(io.LimitReader(answer.Body, bodyLimit))
	if err != nil {
		return err
	}
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("status %s: %s", answer.Status, body)
	}
	fmt.Print(string(body))
	return nil
}

func resolve(name string) error {
	deadline, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	addresses, err := net.DefaultResolver.LookupHost(deadline, name)
	if err != nil {
		return err
	}
	fmt.Println(strings.Join(addresses, " "))
	return nil
}

func connect(address string) error {
	connection, err := net.DialTimeout("tcp", address, timeout)
	if err != nil {
		return err
	}
	fmt.Println("connected to", connection.RemoteAddr())
	return connection.Close()
}

func forward(from, to string) error {
	listener, err := net.Listen("tcp", from)
	if err != nil {
		return err
	}
	fmt.Println("forwarding from", from, "to", to)
	for {
		connection, err := listener.Accept()
		if err != nil {
			return err
		}
		go func() {
			if err := join(connection, to); err != nil {
				fmt.Fprintln(os.Stderr, "error:", err)
			}
		}()
	}
}

// Each end may close its direction while the other still sends.
func join(near net.Conn, to string) error {
	defer near.Close()
	far, err := net.DialTimeout("tcp", to, timeout)
	if err != nil {
		return err
	}
	defer far.Close()
	done := make(chan struct{}, 2)
	pump := func(into, from net.Conn) {
		_, _ = io.Copy(into, from)
		if half, ok := into.(*net.TCPConn); ok {
			_ = half.CloseWrite()
		}
		done <- struct{}{}
	}
	go pump(far, near)
	go pump(near, far)
	<-done
	<-done
	return nil
}
