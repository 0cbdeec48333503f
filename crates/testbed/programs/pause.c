/* Holds the namespaces of a pod open: it waits, reaps children that were left to it, and ends when it is told to. */

#include <signal.h>
#include <stddef.h>
#include <sys/wait.h>

int main(void)
{
	sigset_t awaited;
	int received;

	sigemptyset(&awaited);
	sigaddset(&awaited, SIGCHLD);
	sigaddset(&awaited, SIGINT);
	sigaddset(&awaited, SIGTERM);
	/* What is blocked is kept until sigwait, also where its default is to be ignored. */
	if (sigprocmask(SIG_BLOCK, &awaited, NULL) != 0)
		return 1;
	for (;;) {
		if (sigwait(&awaited, &received) != 0)
			return 1;
		if (received != SIGCHLD)
			return 0;
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
	}
}
