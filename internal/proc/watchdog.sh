# Kills what a host process leaves behind when it dies. $1 is the host's id, which is in the environment of all it
# started. Standard input is a pipe that only the host holds: lines "+ group start" and "- group start" tell which
# process groups are its own, and the end of input that it is gone.
trap '' HUP INT QUIT TERM
groups=' '
while read -r op group start; do
	case $op in
	+) groups="$groups$group:$start " ;;
	-) case $groups in *" $group:$start "*)
		groups="${groups%%" $group:$start "*} ${groups#*" $group:$start "}" ;;
	esac ;;
	esac
done

# kill_group kills a group unless the process of that id is another than it was.
kill_group() {
	if read -r line <"/proc/$1/stat"; then
		start=$2
		set -- "$1" ${line##*) }
		[ "${21}" = "$start" ] || return 0
	fi
	kill -s KILL -- "-$1"
}
for g in $groups; do
	kill_group "${g%:*}" "${g#*:}"
done

# Three clean scans, since a process may start another while we look elsewhere; a bound, since some may not die.
clean=0 rounds=0
while [ $clean -lt 3 ] && [ $rounds -lt 500 ]; do
	clean=$((clean + 1)) rounds=$((rounds + 1))
	for file in $(grep -lsF -e "$1." /proc/[0-9]*/environ); do
		pid=${file#/proc/}
		kill -s KILL "${pid%/environ}" && clean=0
	done
	[ $rounds -lt 10 ] || sleep 0.02
done
