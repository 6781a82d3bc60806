package proc

import (
	"bytes"
	"os"
	"strconv"
	"strings"
	"time"
)

// SweepOrphans kills the processes of runs whose host process is no more: what a crash has left and no watchdog has
// caught. Those of living hosts are not touched, nor those of another boot or container. It returns how many processes
// it has killed; programs may call it when they start. Elsewhere than on Linux it does nothing.
func SweepOrphans() (int, error) {
	deadline := time.Now().Add(5 * time.Second)
	killed := map[stat]bool{}
	for clean := 0; clean < cleanScans && time.Now().Before(deadline); {
		orphans, err := findOrphans()
		if err != nil {
			return len(killed), err
		}
		clean++
		for _, s := range orphans {
			if system.kill(s) == nil {
				killed[stat{pid: s.pid, start: s.start}] = true
				clean = 0
			}
		}
		time.Sleep(scanPause)
	}
	return len(killed), nil
}

// findOrphans lists the live processes with the cookie of a host that is gone.
func findOrphans() ([]stat, error) {
	var all, orphans []stat
	if err := system.scan(func(list []stat) { all = append(all, list...) }); err != nil {
		return nil, err
	}
	for _, s := range all {
		if s.alive() && s.pid != os.Getpid() && ownerGone(system, cookieOf(s.pid)) {
			orphans = append(orphans, s)
		}
	}
	return orphans, nil
}

// cookieOf returns the value of the cookie of a process, or nothing if it has none that we may see.
func cookieOf(pid int) string {
	environ, err := os.ReadFile(system.root + "/" + strconv.Itoa(pid) + "/environ")
	if err != nil {
		return ""
	}
	for variable := range bytes.SplitSeq(environ, []byte{0}) {
		if value, ok := strings.CutPrefix(string(variable), CookieName+"="); ok {
			return value
		}
	}
	return ""
}
