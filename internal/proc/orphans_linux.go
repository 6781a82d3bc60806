package proc

import (
	"bytes"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// SweepOrphans kills the processes of runs whose host process has ended, if a crash has left them and no
// watchdog has killed them. It does not affect runs of live hosts, of another boot or of another container. It
// returns the number of killed processes; programs may call it when they start. It takes at most 5 s. It works
// on Linux only.
func SweepOrphans() (int, error) {
	deadline := time.Now().Add(5 * time.Second)
	killed := map[stat]bool{}
	for scans := (scanCount{}); ; scans.backOff() {
		orphans, unsure, err := system.orphans()
		if err != nil {
			return len(killed), err
		}
		dying := 0
		for _, s := range orphans {
			if system.kill(s) == nil {
				killed[stat{pid: s.pid, start: s.start}] = true
				dying++
			}
		}
		if scans.saw(dying, unsure) || time.Now().After(deadline) {
			return len(killed), nil
		}
	}
}

// orphans lists the live processes with the cookie of a host that has ended, and their descendants. The
// descendants are included because they may have cleared their environment: after the parents have ended,
// nothing shows that they belong to a run. unsure means that it could not classify a process that was starting
// a program.
func (p *procfs) orphans() (orphans []stat, unsure bool, err error) {
	var all []stat
	if err := p.scan(0, func(list []stat) { all = append(all, list...) }); err != nil {
		return nil, false, err
	}
	for _, s := range all {
		if !s.alive() || s.pid == os.Getpid() {
			continue
		}
		cookie, known := p.cookieOf(s.pid)
		unsure = unsure || !known
		if ownerGone(p, probe, cookie) {
			orphans = append(orphans, s)
		}
	}
	return withDescendants(orphans, all), unsure, nil
}

// withDescendants appends the live descendants of the listed processes, except this process and its
// descendants.
func withDescendants(list, all []stat) []stat {
	known := map[int]bool{1: true, os.Getpid(): true}
	for _, s := range list {
		known[s.pid] = true
	}
	for i := 0; i < len(list); i++ {
		for _, s := range all {
			if s.parent == list[i].pid && s.parent != 1 && s.alive() && !known[s.pid] {
				known[s.pid] = true
				list = append(list, s)
			}
		}
	}
	return list
}

// cookieOf returns the cookie of a process, or "" if the process has none that this process may read. known is
// false while the process is starting a program.
func (p *procfs) cookieOf(pid int) (cookie string, known bool) {
	environ, err := os.ReadFile(p.root + "/" + strconv.Itoa(pid) + "/environ")
	if err != nil {
		return "", true
	}
	for variable := range bytes.SplitSeq(environ, []byte{0}) {
		if value, ok := strings.CutPrefix(string(variable), CookieName+"="); ok {
			return value, true
		}
	}
	return "", len(environ) > 0 || !p.startsProgram(pid)
}

// ancestorCookie returns the cookie of the nearest parent process that has one, or "".
func ancestorCookie() string {
	for pid := os.Getppid(); pid > 1; {
		if cookie, _ := system.cookieOf(pid); cookie != "" {
			return cookie
		}
		line, err := os.ReadFile(system.root + "/" + strconv.Itoa(pid) + "/stat")
		if err != nil {
			return ""
		}
		s, err := parseStat(line)
		if err != nil {
			return ""
		}
		pid = s.parent
	}
	return ""
}

// startsProgram is starting for callers outside scan.
func (p *procfs) startsProgram(pid int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.allocate()
	return p.starting(pid)
}

// probe sends signal 0, which shows whether a process exists.
func probe(pid int) error { return unix.Kill(pid, 0) }

// ownerGone reports whether the cookie is from this boot and namespace, and its process has ended. The
// innermost part of a nested cookie counts. With hidepid, /proc may hide a live process from this user. A
// process that /proc does not show has therefore ended only if probe returns ESRCH. In any doubt, ownerGone
// returns false.
func ownerGone(p *procfs, probe func(pid int) error, cookie string) bool {
	cookie = cookie[strings.LastIndexByte(cookie, ',')+1:]
	rest, ok := strings.CutPrefix(cookie, hostScope()+".")
	parts := strings.Split(rest, ".")
	if !ok || len(parts) != 3 {
		return false
	}
	pid, errPid := strconv.Atoi(parts[0])
	start, errStart := strconv.ParseUint(parts[1], 10, 64)
	if errPid != nil || errStart != nil || pid <= 0 { // such PIDs would address process groups
		return false
	}
	if owner, err := p.stat(pid); err == nil {
		return owner.start != start
	}
	return probe(pid) == unix.ESRCH
}
