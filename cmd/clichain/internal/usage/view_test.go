package usage

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/cmd/clichain/internal/console"
	"github.com/clichain/clichain/cmd/clichain/internal/terminal"
	"github.com/clichain/clichain/cooldown"
	"github.com/stretchr/testify/require"
)

// recorded is an output for a test and a goroutine.
type recorded struct {
	mu      sync.Mutex
	written bytes.Buffer
}

func (r *recorded) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.written.Write(p)
}

// take returns what was written since its last call.
func (r *recorded) take() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	defer r.written.Reset()
	return r.written.String()
}

// next is take after all goroutines of the bubble have stopped.
func (r *recorded) next() string {
	synctest.Wait()
	return r.take()
}

func viewOn(out *recorded) *view {
	env := &console.Env{Out: out, Err: out, Getenv: func(string) string { return "" }}
	return &view{Env: env, empty: nothingKnown}
}

// oneWindow returns a window of five hours that began an hour ago and is used by a share.
func oneWindow(now time.Time, used float64) map[string]cooldown.Quota {
	return map[string]cooldown.Quota{"k": {Backends: []string{"claude"}, Windows: []call.QuotaWindow{
		{Name: "five_hour", Length: 5 * time.Hour, Used: &used, ResetsAt: now.Add(4 * time.Hour), ObservedAt: now},
	}}}
}

// watched starts v.watch. It returns functions that replace the content of the store, and that end the watch.
func watched(t *testing.T, v *view) (put func(map[string]cooldown.Quota, error), end func() error) {
	ctx, cancel := context.WithCancel(t.Context())
	type content struct {
		quotas map[string]cooldown.Quota
		err    error
	}
	now, done := make(chan content, 1), make(chan error, 1)
	now <- content{}
	look := func(context.Context) (map[string]cooldown.Quota, error) {
		c := <-now
		now <- c
		return c.quotas, c.err
	}
	go func() { done <- v.watch(ctx, look) }()
	return func(quotas map[string]cooldown.Quota, err error) {
			<-now
			now <- content{quotas, err}
			time.Sleep(watchEvery)
		}, func() error {
			cancel()
			return <-done
		}
}

func TestWatchPrintsChangedWindows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out recorded
		put, end := watched(t, viewOn(&out))
		require.Empty(t, out.next())
		began := time.Now()
		put(oneWindow(began, 0.2), nil)
		require.Regexp(t, `^\d\d:\d\d:\d\d claude: 20 % of 5 hours \(five_hour\) until .*\n$`, out.next())
		put(oneWindow(began, 0.201), nil)
		require.Empty(t, out.next(), "the same percentage")
		put(nil, errors.New("busy"))
		require.Empty(t, out.next(), "a failure is no change")
		put(oneWindow(began, 0.3), nil)
		require.Regexp(t, `^.* claude: 30 % of 5 hours .*\n$`, out.next())
		time.Sleep(4 * time.Hour)
		require.Regexp(t, `^.* claude: 0 % of 5 hours \(five_hour\)\n$`, out.next(), "after the reset")
		require.NoError(t, end())
		require.Empty(t, out.next())
	})
}

func TestWatchPrintsChangedReportsAsJSON(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out recorded
		v := viewOn(&out)
		v.json = true
		put, end := watched(t, v)
		require.Equal(t, "{\"accounts\":[]}\n", out.next())
		put(oneWindow(time.Now(), 0.5), nil)
		var r report
		require.NoError(t, json.Unmarshal([]byte(out.next()), &r))
		require.Equal(t, 0.5, *r.Accounts[0].Windows[0].Used)
		time.Sleep(time.Minute)
		require.Empty(t, out.next())
		require.NoError(t, end())
	})
}

// full is an output without space.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left") }

func TestWatchReportsFailedOutputOnce(t *testing.T) {
	for _, asJSON := range []bool{false, true} {
		v := &view{Env: &console.Env{Out: full{}, Err: full{}, Getenv: func(string) string { return "" }}, json: asJSON}
		err := v.watch(t.Context(), func(context.Context) (map[string]cooldown.Quota, error) { return nil, nil })
		require.EqualError(t, err, "cannot write the output: no space left")
	}
}

func TestWatchFailsAtFirstLook(t *testing.T) {
	broken := errors.New("broken")
	err := viewOn(&recorded{}).watch(t.Context(), func(context.Context) (map[string]cooldown.Quota, error) { return nil, broken })
	require.ErrorIs(t, err, broken)
	var exit *console.ExitError
	require.ErrorAs(t, err, &exit)
}

func TestRedraw(t *testing.T) {
	var out recorded
	v := viewOn(&out)
	draw := v.redraw(&terminal.Screen{Out: &out, Size: func() (int, int) { return 80, 24 }})
	require.NoError(t, draw(nil, nil, afternoon))
	require.Equal(t, "\r\x1b[J"+nothingKnown, out.take())
	require.NoError(t, draw(oneWindow(afternoon, 0.5), errors.New("busy\x1b[2J"), afternoon))
	screen := out.take()
	require.True(t, strings.HasPrefix(screen, "\x1b[3F\x1b[J"), "back over the three lines")
	require.Contains(t, screen, " 50 %  until 18:48  ")
	require.Contains(t, screen, "\ncannot read the usage: busy[2J\n")
}

func TestReportAsJSON(t *testing.T) {
	var out recorded
	v := viewOn(&out)
	v.json = true
	quotas := oneWindow(afternoon, 0.5)
	quotas["z"] = cooldown.Quota{Account: "team", Backends: []string{"codex"}, Windows: []call.QuotaWindow{
		{Name: "primary", Used: new(0.7), ResetsAt: afternoon.Add(-time.Hour), ObservedAt: afternoon.Add(-2 * time.Hour)},
		{Name: "secondary"},
	}}
	require.NoError(t, v.print(quotas, afternoon))
	require.JSONEq(t, `{"accounts":[
		{"key":"k","backends":["claude"],"windows":[{"name":"five_hour","used":0.5,"length_ms":18000000,
			"resets_at":"2027-02-03T17:48:00Z","observed_at":"2027-02-03T13:48:00Z",
			"used_per_hour":0.5,"used_up_at":"2027-02-03T14:48:00Z"}]},
		{"key":"z","account":"team","backends":["codex"],"windows":[
			{"name":"primary","used":0,"observed_at":"2027-02-03T11:48:00Z","empty_since":"2027-02-03T12:48:00Z"},
			{"name":"secondary","used":null}]}]}`, out.take())
}

func TestTextWithoutReports(t *testing.T) {
	var out recorded
	require.NoError(t, viewOn(&out).print(nil, afternoon))
	require.Equal(t, nothingKnown, out.take())
}
