package proc

import (
	"bytes"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// SweepOrphans kills the processes of runs whose host process has ended: what a crash has left and no watchdog has
// killed. It does not touch runs of living hosts, nor those of another boot or container. It returns how many processes
// it has killed; programs may call it when they start. It takes at most five seconds and works on Linux only.
func SweepOrphans() (int, error) {
	deadline := time.Now().Add(5 * time.Second)
	killed := map[stat]bool{}
	for scans := (scanCount{}); ; scans.rest() {
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

// orphans lists the live processes with the cookie of a host that is gone, and their descendants, which may have
// cleared their environment: once the parents are dead, nothing tells that they are of a run. unsure means that it
// could not tell of one, which was starting a program.
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

// withDescendants adds to some processes the live ones below them, but not this process and those below it.
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

// cookieOf returns the cookie of a process, or "" if it has none that this process may read. known is false while the
// process starts a program.
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

// startsProgram is starting, outside of scan.
func (p *procfs) startsProgram(pid int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.allocate()
	return p.starting(pid)
}

// probe sends signal 0, which tells whether a process exists.
func probe(pid int) error { return unix.Kill(pid, 0) }

// ownerGone reports whether the cookie is of this boot and namespace, and its process has ended. Of a nested cookie the
// innermost counts. A process that /proc does not show may only be hidden from this user (hidepid), so then nothing but
// ESRCH from probe means gone; any doubt means that the host lives.
func ownerGone(p *procfs, probe func(pid int) error, cookie string) bool {
	cookie = cookie[strings.LastIndexByte(cookie, ',')+1:]
	rest, ok := strings.CutPrefix(cookie, hostScope()+".")
	parts := strings.Split(rest, ".")
	if !ok || len(parts) != 3 {
		return false
	}
	pid, errPid := strconv.Atoi(parts[0])
	start, errStart := strconv.ParseUint(parts[1], 10, 64)
	if errPid != nil || errStart != nil || pid <= 0 { // such ids would ask for groups
		return false
	}
	if owner, err := p.stat(pid); err == nil {
		return owner.start != start
	}
	return probe(pid) == unix.ESRCH
}
