# Kills the processes that a host process leaves behind when it dies. $1 is the ID of the host, which is in the
# environment of each process of its runs. $2 and $3 are the paths of grep and sleep, each empty if there is none. The
# script calls only built-in commands by name, because PATH may not lead to any program. Standard input is a pipe that
# only the host writes to: the lines "+ group start" and "- group start" add and remove a process group of the host. The
# end of the input means that the host has died.
trap '' HUP INT QUIT TERM
id=$1 grep=$2 sleep=$3
groups=' '
while read -r op group start; do
	case $op in
	+) groups="$groups$group:$start " ;;
	-) case $groups in *" $group:$start "*)
		groups="${groups%%" $group:$start "*} ${groups#*" $group:$start "}" ;;
	esac ;;
	esac
done

# members lists the processes of the runs as "pid:start", in the order in which they were found.
members=$groups

# look reads the state of a process. A name can contain a newline, so only the last line counts.
look() {
	line=
	while read -r next; do line=$next; done <"/proc/$1/stat"
	[ -n "$line" ] || return 1
	set -- ${line##*) }
	state=$1 parent=$2 group=$3 session=$4 start=${20}
}

# related looks at a process and reports whether its parent, its group or its session is that of a member.
related() {
	look "$1" || return 1
	case $members in
	*" $parent:"* | *" $group:"* | *" $session:"*) ;;
	*) return 1 ;;
	esac
}

# forget removes the members whose PID now belongs to another process, and sets pids to a pattern of the other PIDs. No
# scan is clean while a killed process is still alive, because a process needs a moment to die.
forget() {
	kept=' ' pids=x
	for member in $members; do
		pid=${member%:*}
		if look "$pid"; then
			[ "$start" = "${member#*:}" ] || continue
			case $signal$state in KILL[!ZXx]) kill -s KILL "$pid" && clean=0 ;; esac
		fi
		kept="$kept$member " pids="$pids|$pid"
	done
	members=$kept
}

# take sends the signal to the process that look has read, and adds it to the members, unless it is already a member.
take() {
	case $members in *" $1:$start "*) return 0 ;; esac
	kill -s "$signal" "$1"
	members="$members$1:$start " clean=0
}

# by_grep finds processes that have the ID in their environment or are related to a member. It fails if grep does not
# run. A process name that looks like the fields of a process can only make that process a candidate.
by_grep() {
	[ -n "$grep" ] || return 1
	marked=$("$grep" -lsF -e "$id." /proc/[0-9]*/environ)
	[ $? -lt 126 ] || return 1 # grep was removed, or the command line is too long
	near=$("$grep" -lsE -e "\) [A-Za-z] ([0-9]+ ){0,2}($pids) " /proc/[0-9]*/stat)
	[ $? -lt 126 ] || return 1
	for file in $marked; do
		pid=${file#/proc/} pid=${pid%/environ}
		look "$pid" && take "$pid"
	done
	for file in $near; do
		pid=${file#/proc/} pid=${pid%/stat}
		related "$pid" && take "$pid"
	done
	return 0
}

# has_id reports whether a process has the ID in its environment. dash and bash drop the NULs between the variables,
# which does not change the ID. A shell that stops at a NUL finds the ID too, because a run puts it at the beginning.
has_id() {
	while IFS= read -r line || [ -n "$line" ]; do
		case $line in *"$id."*) return 0 ;; esac
	done <"/proc/$1/environ"
	return 1
}

# by_hand does the same as by_grep without grep. It is much slower, because dash reads byte by byte. It cannot fail for
# lack of processes, because it starts none.
by_hand() {
	for dir in /proc/[0-9]*; do
		pid=${dir#/proc/}
		if related "$pid" || has_id "$pid" && look "$pid"; then
			take "$pid"
		fi
	done
}

# scan sends the signal to every process that it finds, until $1 consecutive scans are clean, because a process may
# start another one behind a scan. $2 limits the number of scans of all calls.
rounds=0
scan() {
	clean=0
	while [ $clean -lt "$1" ] && [ $rounds -lt "$2" ]; do
		clean=$((clean + 1)) rounds=$((rounds + 1))
		forget
		by_grep || by_hand
		[ $rounds -lt 10 ] || [ -z "$sleep" ] || "$sleep" 0.02 || : # sleep was removed
	done
}

# After a process has died, nothing shows that its children belong to a run if they have cleared their environment. All
# processes are therefore stopped before the first one is killed: a stopped process neither ends nor starts another.
signal=STOP
forget
for member in $members; do
	kill -s STOP -- "-${member%:*}"
done
scan 2 100

# Children are killed before their parents, because the end of a parent would continue stopped children.
forget
all=
for member in $members; do
	all="${member%:*} $all"
done
[ -z "$all" ] || kill -s KILL $all
for member in $groups; do
	case $members in *" $member "*) kill -s KILL -- "-${member%:*}" ;; esac
done
signal=KILL
scan 3 500
