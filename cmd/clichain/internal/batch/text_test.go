package batch

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
)

var noon = time.Date(2026, 5, 4, 12, 0, 0, 0, time.Local)

func TestStatusLine(t *testing.T) {
	busy := Counts{
		Answered: 1230, Failed: 4, Total: 10_000, CostUSD: 0.42, Running: 4, Rest: noon.Add(125 * time.Minute),
		Backends: map[string]int{"claude": 1200, "codex": 30},
	}
	for _, test := range []struct {
		name   string
		counts Counts
		rate   float64
		width  int
		want   string
	}{
		{"nothing yet", Counts{Total: -1}, 0, 80, "0/…"},
		{"pipe", Counts{Answered: 1234, Total: -1}, 2.5, 80, "1 234/…  2.5/s"},
		{"slow", Counts{Answered: 1, Total: 3, Bad: 1}, 0.05, 80, "1/2  3.0/min  ETA 20s  bad 1"},
		{"120", busy, 12.3, 120, "1 234/10 000  12.3/s  ETA 11m  $0.42  claude 1 200 codex 30  failed 4  running 4  rests until 14:05"},
		{"80", busy, 12.3, 80, "1 234/10 000  12.3/s  ETA 11m  $0.42  failed 4  rests until 14:05"},
		{"60", busy, 12.3, 60, "1 234/10 000  ETA 11m  $0.42  failed 4  rests until 14:05"},
		{"40", busy, 12.3, 40, "1 234/10 000  ETA 11m  $0.42  failed 4"},
		{"10", busy, 12.3, 10, "1 234/10 …"},
		{"control characters", Counts{Answered: 1, Total: 1, Backends: map[string]int{"a\x1b[2J\nb": 1}}, 0, 80, "1/1  a[2J b 1"},
		{"rested", Counts{Answered: 1, Total: 2, Rest: noon, Parked: 1}, 0, 80, "1/2  put off 1"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := statusLine(&test.counts, test.rate, noon, test.width)
			require.Equal(t, test.want, got)
			require.LessOrEqual(t, utf8.RuneCountInString(got), test.width)
		})
	}
}

func TestNumbers(t *testing.T) {
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1 000", 12_345_678: "12 345 678"} {
		require.Equal(t, want, number(n))
	}
	for d, want := range map[time.Duration]string{
		0: "1s", 59 * time.Second: "59s", 61 * time.Second: "1m", 90 * time.Minute: "1h30m", 50 * time.Hour: "2d",
	} {
		require.Equal(t, want, roughly(d))
	}
}

func TestSummary(t *testing.T) {
	c := Counts{
		Answered: 98, Failed: 2, Before: 10, Bad: 1, CostUSD: 0.423, Total: 101,
		Backends: map[string]int{"claude": 70, "codex": 28}, Reasons: map[clichain.Reason]int{"timeout": 1, "exit": 1},
	}
	require.Equal(t, []string{
		"98 answered, 2 failed, 1 bad line, 10 of them before, in 3m12.1s, $0.42",
		"answers: claude 70 codex 28", "failures: exit 1 timeout 1",
	}, summary(&c, 192_100*time.Millisecond))
}

func TestRate(t *testing.T) {
	var r rate
	require.Zero(t, r.perSecond())
	for i := range 200 { // ten a second, and then two
		r.add(noon.Add(time.Duration(i)*time.Second), min(i, 100)*10+max(i-100, 0)*2)
	}
	require.InDelta(t, 2, r.perSecond(), 0.01, "of late")
	require.Less(t, len(r.samples), 70)
}

func TestScreenWithoutTerminal(t *testing.T) {
	var out strings.Builder
	tally := newTally()
	s := Display{Out: &out}.begin(tally)
	s.sayOnce("x", "once %d", 1)
	s.sayOnce("x", "once %d", 2)
	tally.add(&Record{ID: "a", Response: &clichain.Response{Backend: "claude"}})
	s.end()
	require.Regexp(t, "^clichain: once 1\nclichain: 1 answered, 0 failed, in [0-9.a-z]+\nclichain: answers: claude 1\n$", out.String())
}

func TestScreenOnTerminal(t *testing.T) {
	var out strings.Builder
	tally := newTally()
	s := Display{Out: &out, Live: true, Width: func() int { return 40 }}.begin(tally)
	s.draw(time.Now())
	s.end()
	require.Regexp(t, "^(\r0/…\x1b\\[K)+\r\x1b\\[Kclichain: 0 answered", out.String())
	require.NotContains(t, out.String(), "…\n")
}

// A note of a bad line stands above the status line, not in it.
func TestNotesOverTheStatusLine(t *testing.T) {
	var out strings.Builder
	s := Display{Out: &out, Live: true, Width: func() int { return 40 }}.begin(newTally())
	b := &badLines{notes: &out}
	b.over(s)
	s.draw(time.Now())
	require.NoError(t, b.add(rawLine{number: 3}, errTwice))
	s.end()
	require.Contains(t, out.String(), "\x1b[K\r\x1b[Kclichain: line 3: "+errTwice.Error()+"\n")
}

func TestQuietScreen(t *testing.T) {
	var out strings.Builder
	s := Display{Out: &out, Live: true, Quiet: true, Width: func() int { return 40 }}.begin(newTally())
	s.say("no")
	s.end()
	require.Empty(t, out.String())
}
