# The first process of the namespaces; when it ends, the kernel kills all others in them. Its argument is the file into
# which it writes its id. The old /proc still tells the id that the machine knows it by.
read -r id rest </proc/self/stat
mount -t proc proc /proc
# Sockets, locks, network namespaces of pods, and what programs keep at fixed places is nobody else's business.
mount -t tmpfs -o mode=755 tmpfs /run
mkdir /run/netns /run/lock /run/cgroup
for directory in /var/log /var/lib/cni /var/lib/kubelet; do
  mkdir -p "$directory"
  mount -t tmpfs tmpfs "$directory"
done
# A new sysfs shows the interfaces of the new network; cgroups are taken along.
mount --rbind /sys/fs/cgroup /run/cgroup
mount -t sysfs sysfs /sys
mount --move /run/cgroup /sys/fs/cgroup
rmdir /run/cgroup
# Kubelets see these settings of the kernel as they want them, and so leave those of the machine alone.
mkdir /run/settings
for setting in vm/overcommit_memory=1 vm/panic_on_oom=0 kernel/panic=10 kernel/panic_on_oops=1 \
  kernel/keys/root_maxkeys=1000000 kernel/keys/root_maxbytes=25000000; do
  file=/run/settings/$(echo "${setting%=*}" | tr / .)
  echo "${setting#*=}" >"$file"
  mount --bind "$file" "/proc/sys/${setting%=*}"
done
ip link set lo up
echo "$id" >"$1.part"
mv "$1.part" "$1"
# Waiting also reaps the orphans that the first process inherits.
sleep infinity &
wait
