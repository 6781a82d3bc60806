//go:build unix

package proc

import "golang.org/x/sys/unix"

// members decides which processes belong to a run.
type members struct {
	leader stat
	since  uint64 // no member started before
	cookie string
	known  map[int]uint64 // start times of all members ever seen, the leader included
	host   stat           // this process, whose group and session are never touched
}

func newMembers(leader, host stat, cookie string) *members {
	m := &members{leader: leader, cookie: cookie, host: host, known: map[int]uint64{leader.pid: leader.start}}
	if startsAreMonotonic {
		m.since = leader.start
	}
	return m
}

// pick returns those of all processes that belong to the run, and remembers them. A process does if it was known, is in
// the group of the leader, in the session of a member, the child of a member, or has the cookie.
func (m *members) pick(all []stat, hasCookie func(pid int, cookie string) bool) []stat {
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
		if hasCookie(s.pid, m.cookie) {
			marked = append(marked, s)
		}
	}
	if len(marked) > 0 {
		m.remember(marked)
		found, _ = m.closure(found, rest)
	}
	return found
}

// forgetRecycled drops the members whose id belongs to a stranger by now: neither it nor its children are ours.
func (m *members) forgetRecycled(all []stat) {
	for _, s := range all {
		if start, ok := m.known[s.pid]; ok && start != s.start {
			delete(m.known, s.pid)
		}
	}
}

// possible rules out what is older than the run, and ourselves.
func (m *members) possible(s stat) bool {
	if s.start < m.since || s.pid == 1 || s.pid == m.host.pid {
		return false
	}
	return s.pid == m.leader.pid || (s.group != m.host.group && s.session != m.host.session)
}

// closure moves members from candidates to found until no more can be told.
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

func (m *members) belongs(s stat) bool {
	return m.knows(s.pid) || s.group == m.leader.pid || m.knows(s.session) || m.knows(s.parent)
}

func (m *members) knows(pid int) bool {
	_, ok := m.known[pid]
	return ok
}

func (m *members) remember(list []stat) {
	for _, s := range list {
		m.known[s.pid] = s.start
	}
}

// reapOrphans reaps members that have ended and were handed to this process, as happens when it is the first process of
// a container: nobody else would.
func (m *members) reapOrphans(found []stat) {
	for _, s := range found {
		if s.pid != m.leader.pid && s.parent == m.host.pid && !s.alive() {
			_, _ = unix.Wait4(s.pid, nil, unix.WNOHANG, nil) // taken by another waiter: as good
		}
	}
}
