# Kills what a host process leaves behind when it dies. $1 is the host's id, which is in the environment of all it
# started; $2 and $3 are the paths of grep and sleep, each empty if there is none. Only what is built into the shell is
# called by name, since PATH may lead nowhere. Standard input is a pipe that only the host holds: lines "+ group start"
# and "- group start" tell which process groups are its own, and the end of input that it is gone.
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

# by_grep kills all that have the id in their environment. It fails if grep does not run.
by_grep() {
	[ -n "$2" ] || return 1
	files=$("$2" -lsF -e "$1." /proc/[0-9]*/environ)
	[ $? -lt 126 ] || return 1 # it has been removed, or there are too many processes for one command line
	for file in $files; do
		pid=${file#/proc/}
		kill -s KILL "${pid%/environ}" && clean=0
	done
}

# by_hand does the same without a program. It is slower by far, as dash reads byte by byte. dash and bash drop the NULs
# between the variables, which leaves the id as it is; in a shell that stops at one, the id is found where a run put it,
# at the beginning. It starts no process, so it cannot fail for want of one.
by_hand() {
	for dir in /proc/[0-9]*; do
		while IFS= read -r line || [ -n "$line" ]; do
			case $line in *"$1."*)
				kill -s KILL "${dir#/proc/}" && clean=0
				break ;;
			esac
		done <"$dir/environ"
	done
}

# Three clean scans, since a process may start another while we look elsewhere; a bound, since some may not die.
clean=0 rounds=0
while [ $clean -lt 3 ] && [ $rounds -lt 500 ]; do
	clean=$((clean + 1)) rounds=$((rounds + 1))
	by_grep "$@" || by_hand "$@"
	[ $rounds -lt 10 ] || [ -z "$3" ] || "$3" 0.02 || : # it has been removed
done
