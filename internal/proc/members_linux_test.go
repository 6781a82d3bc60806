package proc

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// process returns a stat, with the fields in the order of a process listing.
func process(pid, parent, group, session int, start uint64) stat {
	return stat{pid: pid, parent: parent, group: group, session: session, start: start, state: 'S', threads: 1}
}

func ids(list []stat) []int {
	out := []int{}
	for _, s := range list {
		out = append(out, s.pid)
	}
	return out
}

func TestMembers(t *testing.T) {
	host, leader := process(10, 1, 10, 9, 50), process(100, 10, 100, 100, 1000)
	first, strangers := process(1, 0, 1, 1, 1), []stat{process(11, 10, 10, 9, 2000), process(12, 1, 12, 12, 2000)}
	for _, test := range []struct {
		name    string
		earlier []stat // an earlier scan
		now     []stat
		cookies []int // processes with the cookie
		others  []int // sessions of other runs
		want    []int
	}{
		{name: "leader alone", now: []stat{leader}, want: []int{100}},
		{name: "nobody", want: []int{}},
		{name: "strangers", now: append(strangers, first, host), want: []int{}},
		{name: "child in the group", now: []stat{leader, process(101, 100, 100, 100, 1001)}, want: []int{100, 101}},
		{name: "child in its session", now: []stat{leader, process(101, 100, 101, 101, 1001)}, want: []int{100, 101}},
		{name: "children before their parents", want: []int{100, 103, 102, 101}, now: []stat{
			process(101, 102, 101, 101, 1003), process(102, 103, 102, 102, 1002), process(103, 100, 103, 103, 1001), leader}},
		{name: "group without the leader", now: []stat{process(101, 1, 100, 100, 1001)}, want: []int{101}},
		{name: "session of a known process that has ended", want: []int{102},
			earlier: []stat{leader, process(101, 100, 101, 101, 1001)}, now: []stat{process(102, 1, 102, 101, 1002)}},
		{name: "orphan of process 1", want: []int{101},
			earlier: []stat{leader, process(101, 100, 101, 101, 1001)}, now: []stat{process(101, 1, 101, 101, 1001)}},
		{name: "cookie", now: []stat{leader, process(101, 1, 101, 101, 1001)}, cookies: []int{101}, want: []int{100, 101}},
		{name: "child of a process with the cookie", want: []int{101, 102},
			now: []stat{process(102, 101, 102, 102, 1002), process(101, 1, 101, 101, 1001)}, cookies: []int{101}},
		{name: "older than the leader", now: []stat{process(101, 100, 100, 100, 999)}, cookies: []int{101}, want: []int{}},
		{name: "recycled id", want: []int{},
			earlier: []stat{leader, process(101, 100, 101, 101, 1001)}, now: []stat{process(101, 1, 101, 101, 1500)}},
		{name: "recycled id of the leader", want: []int{}, earlier: []stat{leader}, now: []stat{
			process(100, 1, 100, 100, 1500), process(101, 100, 100, 100, 1501), process(102, 1, 102, 100, 1502)}},
		{name: "child and session of a recycled id", want: []int{},
			earlier: []stat{leader, process(101, 100, 101, 101, 1001)},
			now:     []stat{process(101, 1, 101, 101, 1500), process(102, 101, 102, 102, 1501), process(103, 1, 103, 101, 1502)}},
		{name: "the host's own processes", now: []stat{process(10, 100, 10, 9, 2000), process(13, 100, 10, 9, 2000), process(14, 100, 14, 9, 2000)},
			cookies: []int{10, 13, 14}, want: []int{}},
		{name: "process of another run", now: []stat{leader, process(200, 10, 200, 200, 1001), process(201, 1, 201, 200, 1002)},
			cookies: []int{200, 201}, others: []int{100, 200}, want: []int{100}},
		{name: "process in another session", now: []stat{leader, process(201, 200, 201, 201, 1002)}, cookies: []int{201}, others: []int{100, 200}, want: []int{100, 201}},
	} {
		t.Run(test.name, func(t *testing.T) {
			leads := func(session int) bool { return slices.Contains(test.others, session) }
			m := newMembers(leader, host, "cookie", leads)
			hasCookie := func(pid int, cookie string) (has, known bool) {
				require.Equal(t, "cookie", cookie)
				return slices.Contains(test.cookies, pid), true
			}
			m.pick(test.earlier, hasCookie)
			require.ElementsMatch(t, test.want, ids(m.pick(test.now, hasCookie)))
		})
	}
}

// A process that is starting a program may belong to the run, and is examined again.
func TestMembersWithUnknownCookie(t *testing.T) {
	host, leader := process(10, 1, 10, 9, 50), process(100, 10, 100, 100, 1000)
	all := []stat{leader, process(101, 1, 101, 101, 1001)}
	m := newMembers(leader, host, "cookie", guard.leads)
	starting := func(int, string) (has, known bool) { return false, false }
	require.Equal(t, []int{100}, ids(m.pick(all, starting)))
	require.True(t, m.unsure)
	require.Equal(t, []int{100, 101}, ids(m.pick(all, func(int, string) (has, known bool) { return true, true })))
	require.False(t, m.unsure)
	require.Equal(t, []int{100, 101}, ids(m.pick(all, starting)), "the cookie is known")
	require.False(t, m.unsure)
}

// The start time of the leader is unknown if the process table could not be read when it started.
func TestMembersWithUnknownStart(t *testing.T) {
	m := newMembers(stat{pid: 100}, process(10, 1, 10, 9, 50), "cookie", guard.leads)
	none := func(int, string) (has, known bool) { return false, true }
	leader, child := process(100, 10, 100, 100, 1000), process(101, 100, 101, 101, 1001)
	require.ElementsMatch(t, []int{100, 101}, ids(m.pick([]stat{child, leader}, none)))
	require.Empty(t, m.pick([]stat{process(100, 1, 100, 100, 1500)}, none), "the start time has become known")
}
