# Ends every process that has $1 in its environment, first with SIGTERM, then with SIGKILL. Then removes the temporary
# directory $2 of the call, if any. Fails if a process is left.
if ! command -v grep >/dev/null; then
	echo 'there is no grep in the container' >&2
	exit 1
fi
# Two clean scans are necessary because a process may start another one behind a scan. The number of scans is limited
# because some processes may not die.
clean=0 rounds=0 asked=' '
while [ $clean -lt 2 ]; do
	found=$(grep -lsF -e "$1" /proc/[0-9]*/environ)
	if [ -z "$found" ]; then
		clean=$((clean + 1))
		continue
	fi
	clean=0 rounds=$((rounds + 1))
	if [ $rounds -gt 100 ]; then
		echo "processes that do not die:" $found >&2
		exit 1
	fi
	for file in $found; do
		pid=${file#/proc/}
		pid=${pid%/environ}
		case $asked in
		*" $pid "*) [ $rounds -le 25 ] || kill -s KILL "$pid" ;;
		*) kill -s TERM "$pid" && asked="$asked$pid " ;;
		esac
	done 2>/dev/null
	# The first SIGKILL follows after about a second, even if sleep does not support fractions.
	sleep 0.04 2>/dev/null || { sleep 1 && rounds=$((rounds + 24)); }
done
[ -z "$2" ] || rm -rf "$2"
