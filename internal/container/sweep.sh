# Ends what a call has left in its container: every process with $1 in its environment, first politely, then not. Then
# removes the call's folder $2, if it has one. Fails when something is left.
if ! command -v grep >/dev/null; then
	echo 'there is no grep in the container' >&2
	exit 1
fi
# Two clean scans, since a process may start another while we look elsewhere; a bound, since some may not die.
clean=0 rounds=0 asked=' '
while [ $clean -lt 2 ]; do
	found=$(grep -lsF -e "$1" /proc/[0-9]*/environ)
	if [ -z "$found" ]; then
		clean=$((clean + 1))
		continue
	fi
	clean=0 rounds=$((rounds + 1))
	if [ $rounds -gt 100 ]; then
		echo "some do not die:" $found >&2
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
	# About a second until the first SIGKILL, even where sleep knows no fractions.
	sleep 0.04 2>/dev/null || { sleep 1 && rounds=$((rounds + 24)); }
done
[ -z "$2" ] || rm -rf "$2"
