package proc

import (
	"bytes"
	"os"
	"strconv"
)

// Memory returns the resident memory of a process and its descendants, in bytes. ok is false if it is unknown.
func Memory(pid int) (size int64, ok bool) {
	family := map[int]bool{pid: true}
	err := system.scan(0, func(all []stat) {
		for grown := true; grown; {
			grown = false
			for _, s := range all {
				if family[s.parent] && !family[s.pid] {
					family[s.pid], grown = true, true
				}
			}
		}
	})
	for member := range family {
		if pages, known := residentPages(member); known {
			size += pages * int64(os.Getpagesize())
			ok = err == nil
		}
	}
	return size, ok
}

// residentPages returns the second number in /proc/PID/statm.
func residentPages(pid int) (pages int64, ok bool) {
	text, err := os.ReadFile(system.root + "/" + strconv.Itoa(pid) + "/statm")
	fields := bytes.Fields(text)
	if err != nil || len(fields) < 2 {
		return 0, false // the process has ended
	}
	pages, err = strconv.ParseInt(string(fields[1]), 10, 64)
	return pages, err == nil
}
