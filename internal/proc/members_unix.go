//go:build unix

package proc

import "golang.org/x/sys/unix"

type members struct {
	leader stat
	since  uint64 // no member started earlier
	cookie string
	known  map[int]uint64         // start times of all members ever seen, including the leader
	host   stat                   // this process, whose group and session are never killed
	leads  func(session int) bool // whether the session belongs to a run of this host
	unsure bool                   // the latest scan could not classify a process that was starting a program
}

func newMembers(leader, host stat, cookie string, leads func(session int) bool) *members {
	m := &members{leader: leader, cookie: cookie, host: host, leads: leads}
	m.known = map[int]uint64{leader.pid: leader.start}
	if startsAreMonotonic {
		m.since = leader.start
	}
	return m
}

// cookieReader reports whether a process has the cookie, and whether that is known.
type cookieReader func(pid int, cookie string) (has, known bool)

// pick returns the processes that belong to the run, and records them. These are known members, processes with
// the cookie, and processes in the group of the leader. Children of members and processes in the session of a
// member also belong to the run.
func (m *members) pick(all []stat, hasCookie cookieReader) []stat {
	m.unsure = false
	m.forgetRecycled(all)
	candidates := make([]stat, 0, 16)
	for _, s := range all {
		if m.possible(s) {
			candidates = append(candidates, s)
		}
	}
	found, rest := m.closure(nil, candidates)
	marked := rest[:0:0]
	for _, s := range rest {
		has, known := hasCookie(s.pid, m.cookie)
		if has {
			marked = append(marked, s)
		}
		m.unsure = m.unsure || !known
	}
	for _, s := range marked {
		m.known[s.pid] = s.start
	}
	if len(marked) > 0 {
		found, _ = m.closure(found, rest)
	}
	return found
}

// forgetRecycled removes the members whose PID now belongs to another process. The start time of the leader may be
// unknown.
func (m *members) forgetRecycled(all []stat) {
	for _, s := range all {
		if start, ok := m.known[s.pid]; ok && start != s.start && start != 0 {
			delete(m.known, s.pid)
		}
	}
}

// possible excludes processes that are older than the run, this process, and processes in its group or session.
// It also excludes processes in the session of another run, which no outside process can join. This saves
// reading the environments of many other runs.
func (m *members) possible(s stat) bool {
	if s.start < m.since || s.pid == 1 || s.pid == m.host.pid {
		return false
	}
	if s.pid == m.leader.pid || s.session == m.leader.pid {
		return true
	}
	return s.group != m.host.group && s.session != m.host.session && !m.leads(s.session)
}

// closure moves members from candidates to found until a pass finds no more.
func (m *members) closure(found, candidates []stat) (members, others []stat) {
	for {
		rest := candidates[:0:0]
		before := len(found)
		for _, s := range candidates {
			if m.belongs(s) {
				found = append(found, s)
				m.known[s.pid] = s.start
			} else {
				rest = append(rest, s)
			}
		}
		if candidates = rest; len(found) == before {
			return found, rest
		}
	}
}

// belongs reports whether the process is a member. After other code has reaped the leader and its PID has been reused,
// the group with that number is another one.
func (m *members) belongs(s stat) bool {
	group := s.group == m.leader.pid && m.knows(m.leader.pid)
	return group || m.knows(s.pid) || m.knows(s.session) || m.knows(s.parent)
}

func (m *members) knows(pid int) bool {
	_, ok := m.known[pid]
	return ok
}

// reapOrphans reaps members that have ended as children of this process. Members become its children if it is
// process 1 of a container or has called adopt. No other process would reap them.
func (m *members) reapOrphans(found []stat) {
	for _, s := range found {
		if s.pid != m.leader.pid && s.parent == m.host.pid && !s.alive() {
			_, _ = unix.Wait4(s.pid, nil, unix.WNOHANG, nil) // an error means that other code has reaped it
		}
	}
}
