# The first process of a host; when it ends, the kernel ends all others on it. Its arguments are the directory of the
# host's files and its name. The old /proc still tells the id that the surroundings know it by.
PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
export PATH
read -r id rest </proc/self/stat
exec 3>"$1/started"
hostname "$2"
mount --make-rprivate /
# The machine's programs, with changes that go elsewhere.
mount -t overlay overlay -o "lowerdir=/,upperdir=$1/upper,workdir=$1/work" "$1/root"
files=$1
cd "$1/root"
mount -t proc proc proc
# A new sysfs shows the interfaces of the new network; control groups and devices are the machine's.
mount -t sysfs sysfs sys
mount --rbind /sys/fs/cgroup sys/fs/cgroup
mount --rbind /dev dev
mount -t tmpfs -o mode=755 tmpfs run
mount -t tmpfs -o mode=1777 tmpfs tmp
# Layers of images cannot lie on an overlay, and nothing of the machine's own may shine through.
mkdir -p run/lock run/netns var/lib/containerd var/lib/kubelet etc/cni/net.d run/old
mount --bind "$files/containerd" var/lib/containerd
mount --bind "$files/kubelet" var/lib/kubelet
mount --bind "$files/cni" etc/cni/net.d
pivot_root . run/old
cd /
umount -l /run/old
rmdir /run/old
# What kubelets and containerd mount is seen in containers.
mount --make-rshared /
ip link set lo up
echo "$id" >&3
exec 3>&-
# Waiting also reaps the orphans that the first process inherits.
sleep infinity &
wait
