package batchview

import (
	"errors"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/batch"
)

var noon = time.Date(2026, 5, 4, 12, 0, 0, 0, time.Local)

func TestStatusLine(t *testing.T) {
	busy := batch.Counts{
		Answered: 1230, Failed: 4, Total: 10_000, CostUSD: 0.42, Running: 4, Rest: noon.Add(125 * time.Minute),
		Backends: map[string]int{"claude": 1200, "codex": 30},
	}
	for _, test := range []struct {
		name   string
		counts batch.Counts
		rate   float64
		width  int
		want   string
	}{
		{"no results yet", batch.Counts{Total: -1}, 0, 80, "0/…"},
		{"unknown total", batch.Counts{Answered: 1234, Total: -1}, 2.5, 80, "1 234/…  2.5/s"},
		{"less than one result per second", batch.Counts{Answered: 1, Total: 3, Bad: 1}, 0.05, 80, "1/2  3.0/min  ETA 20s  bad 1"},
		{"width 120", busy, 12.3, 120, "1 234/10 000  12.3/s  ETA 23h59m  $0.4200  claude 1 200 codex 30  failed 4  running 4  rests until 14:05"},
		{"width 80", busy, 12.3, 80, "1 234/10 000  12.3/s  ETA 23h59m  $0.4200  failed 4  rests until 14:05"},
		{"width 60", busy, 12.3, 60, "1 234/10 000  ETA 23h59m  $0.4200  failed 4"},
		{"width 40", busy, 12.3, 40, "1 234/10 000  ETA 23h59m  failed 4"},
		{"width 10", busy, 12.3, 10, "1 234/10 …"},
		{"control characters", batch.Counts{Answered: 1, Total: 1, Backends: map[string]int{"a\x1b[2J\nb": 1}}, 0, 80, "1/1  a[2J b 1"},
		{"cooldown that is over", batch.Counts{Answered: 1, Total: 2, Rest: noon, Parked: 1}, 0, 80, "1/2  put off 1"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := statusLine(&test.counts, test.rate, noon.Add(-time.Hour), noon, test.width)
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
	c := batch.Counts{
		Answered: 98, Failed: 2, Before: 10, Bad: 1, CostUSD: 0.423, Total: 101,
		Backends: map[string]int{"claude": 70, "codex": 28}, Reasons: map[clichain.Reason]int{"timeout": 1, "exit": 1},
	}
	require.Equal(t, []string{
		"98 answered, 2 failed, 1 bad line, 10 of them before, in 3m12.1s, $0.4230",
		"answers: claude 70 codex 28", "failures: exit 1 timeout 1",
	}, summary(&c, 192_100*time.Millisecond))
	c = batch.Counts{Answered: 98, Cached: 30}
	require.Equal(t, "98 answered (30 from the cache), 0 failed, in 0s", summary(&c, 0)[0])
	c = batch.Counts{Format: batch.CSV, Changed: 1}
	require.Equal(t, "format of the input: csv", summary(&c, 0)[1])
	require.Contains(t, summary(&c, 0)[2], "warning: 1 line under an id that was asked something else before")
}

func TestRate(t *testing.T) {
	var r rate
	require.Zero(t, r.perSecond())
	for i := range 200 { // ten per second, then two
		r.add(noon.Add(time.Duration(i)*time.Second), min(i, 100)*10+max(i-100, 0)*2)
	}
	require.InDelta(t, 2, r.perSecond(), 0.01, "of late")
	require.Less(t, len(r.samples), 70)
}

func TestViewWithoutTerminal(t *testing.T) {
	var out strings.Builder
	v := New(Config{In: "-", Out: "out.jsonl", To: &out})
	c := batch.Counts{Total: -1, Before: 3}
	v.progress(noon, &c)
	v.Notice("once\x1b[2J")
	v.progress(noon.Add(remarkEvery-1), &c)
	v.progress(noon.Add(remarkEvery), &c)
	v.End(&batch.Counts{Answered: 1, Backends: map[string]int{"claude": 1}})
	require.Regexp(t, "^clichain: batch: from stdin to out.jsonl, 3 done before\nclichain: once\\[2J\nclichain: 0/…\n"+
		"clichain: 1 answered, 0 failed, in [0-9.a-z]+\nclichain: answers: claude 1\n$", out.String())
}

func TestViewOnTerminal(t *testing.T) {
	var out strings.Builder
	v := New(Config{To: &out, Live: true, Width: func() int { return 40 }})
	v.Progress(batch.Counts{Total: -1})
	v.End(&batch.Counts{})
	require.Regexp(t, "^\r0/…\x1b\\[K\r\x1b\\[Kclichain: 0 answered", out.String())
	require.NotContains(t, out.String(), "…\n")
}

// The error of an invalid line must appear above the status line.
func TestBadLineAboveStatusLine(t *testing.T) {
	var out strings.Builder
	v := New(Config{To: &out, Live: true, Width: func() int { return 40 }})
	v.Progress(batch.Counts{Total: -1})
	require.NoError(t, v.BadLine(3, errors.New("is no JSON")))
	require.Contains(t, out.String(), "\x1b[K\r\x1b[Kclichain: line 3: is no JSON\n")
}

func TestQuietView(t *testing.T) {
	var out strings.Builder
	v := New(Config{To: &out, Live: true, Quiet: true, Width: func() int { return 40 }})
	v.Progress(batch.Counts{})
	v.Notice("no")
	v.End(&batch.Counts{})
	require.Empty(t, out.String())
	require.NoError(t, v.BadLine(3, errors.New("is no JSON")))
	require.Equal(t, "clichain: line 3: is no JSON\n", out.String())
}
