package workspace_test

import (
	"context"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/workspace"
)

// A request that is canceled while the agent works or while a check runs leaves nothing.
func TestStreamCanceled(t *testing.T) {
	dir := repository(t)
	before := contents(t, dir)
	const waits = "tail -f /dev/null\n"
	for name, test := range map[string]struct {
		script string
		checks [][]string
		until  func(clichain.Event) bool
	}{
		"agent": {
			says(begin, writes) + "echo x >made\n" + says(writes) + waits, nil,
			func(e clichain.Event) bool { return e.Kind == call.EventToolUse },
		},
		"check": {
			says(begin, answers) + "echo x >made\n", [][]string{{"tail", "-f", "/dev/null"}},
			func(e clichain.Event) bool { return strings.HasPrefix(e.Text, workspace.StatusCheck) },
		},
		"copy": {says(begin, answers), nil, func(e clichain.Event) bool { return e.Text == workspace.StatusCopy }},
	} {
		for _, leave := range []bool{false, true} {
			t.Run(fmt.Sprint(name, leave), func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				b := workspace.New(agent(t, "claude", test.script, clichain.Config{}), &workspace.Config{Checks: test.checks})
				var last error
				for e, err := range b.Stream(ctx, work(dir)) {
					if last = err; err == nil && test.until(e) {
						if leave {
							break
						}
						cancel()
					}
				}
				if !leave {
					require.ErrorIs(t, last, call.ErrCanceled)
				}
				clean(t, dir, before)
			})
		}
	}
}

// A panic of the backend reaches the caller, and the copy can be used again.
func TestStreamPanic(t *testing.T) {
	dir := repository(t)
	before := contents(t, dir)
	b := workspace.New(clichain.BackendFunc("f", func(_ context.Context, r clichain.Request) (*clichain.Response, error) {
		require.NoError(t, os.WriteFile(filepath.Join(r.Dir, "made"), nil, 0o600))
		panic("in the backend")
	}), nil)
	for range 2 {
		require.PanicsWithValue(t, "in the backend", func() { _, _ = b.Complete(t.Context(), work(dir)) })
		clean(t, dir, before)
	}
	slots, err := filepath.Glob(filepath.Join(cache(), "*", "*", "app"))
	require.NoError(t, err)
	require.NotEmpty(t, slots)
}

func TestConcurrentCalls(t *testing.T) {
	dir := repository(t)
	before := contents(t, dir)
	var group sync.WaitGroup
	for i := range 20 {
		group.Go(func() {
			name := fmt.Sprint("f", i)
			resp, err := workspace.New(writer(name), &workspace.Config{Checks: [][]string{{"grep", "by " + name, "made"}}}).
				Complete(t.Context(), work(dir))
			if err != nil {
				t.Error(err)
				return
			}
			if !strings.Contains(resp.Changes.Patch, "+by "+name+"\n") || len(resp.Changes.Files) != 1 {
				t.Error(resp.Changes.Patch)
			}
		})
	}
	group.Wait()
	clean(t, dir, before)
}

// A copy of a directory that contains the copies would contain all earlier copies too.
func TestNewRefusesDirectoryWithCache(t *testing.T) {
	dir, link := t.TempDir(), filepath.Join(t.TempDir(), "link")
	require.NoError(t, os.Mkdir(filepath.Join(dir, "cache"), 0o700))
	require.NoError(t, os.Symlink(filepath.Join(dir, "cache"), link))
	t.Setenv("XDG_CACHE_HOME", link)
	_, err := workspace.New(writer("f"), nil).Complete(t.Context(), work(dir))
	require.ErrorContains(t, err, "contains the copies themselves")
}

// scripted is a backend that yields events.
type scripted struct {
	clichain.Backend
	events func(dir string) []clichain.Event
}

func (s scripted) Stream(_ context.Context, req clichain.Request) iter.Seq2[clichain.Event, error] {
	return func(yield func(clichain.Event, error) bool) {
		for _, e := range s.events(req.Dir) {
			if !yield(e, nil) {
				return
			}
		}
	}
}

func TestStreamReplacesPathInDeltas(t *testing.T) {
	dir := repository(t)
	b := workspace.New(scripted{writer("f"), func(copied string) []clichain.Event {
		text := "see " + copied + "/a and " + copied
		events := []clichain.Event{{Kind: call.EventSession, Session: "s1", Model: "m"}}
		for _, r := range text {
			events = append(events, clichain.Event{Kind: call.EventDelta, Text: string(r)})
			events = append(events, clichain.Event{Kind: call.EventUsage})
		}
		resp := &clichain.Response{Text: text, Session: "f:s1"}
		return append(events, clichain.Event{Kind: call.EventDone, Response: resp})
	}}, nil)
	var text strings.Builder
	for e, err := range b.Stream(t.Context(), work(dir)) {
		require.NoError(t, err)
		require.Empty(t, e.Session)
		if e.Kind == call.EventDelta {
			text.WriteString(e.Text)
		}
		if e.Kind == call.EventDone {
			require.Equal(t, text.String(), e.Response.Text)
			require.Empty(t, e.Response.Session)
		}
	}
	require.Equal(t, "see "+dir+"/a and "+dir, text.String())
}

func TestStreamEvents(t *testing.T) {
	b := workspace.New(writer("f"), &workspace.Config{Checks: [][]string{{"true"}, {"test", "-e", "made"}}})
	var kinds []string
	for e, err := range b.Stream(t.Context(), work(repository(t))) {
		require.NoError(t, err)
		kinds = append(kinds, strings.TrimSuffix(string(e.Kind)+" "+e.Text, " "))
	}
	require.Len(t, kinds, 6)
	kinds[2] = kinds[2][:4] // the path
	require.Equal(t, []string{
		"start", "status workspace: copy", "text", "status workspace: check true",
		"status workspace: check test -e made", "done",
	}, kinds)
}

// The checks get the environment variables of the agent, and write nothing into the patch.
func TestChecksHaveEnvironmentOfAgent(t *testing.T) {
	t.Setenv("HOST_SECRET", "x")
	t.Setenv("PASSED", "y")
	script := says(begin) + "echo x >made\n" + says(answers)
	check := `test -z "$HOST_SECRET" && test "$PASSED$OWN$ASKED" = yzw && ` +
		`test "$CLICHAIN_BACKEND/$CLICHAIN_MODEL" = claude/opus && ` +
		"test -e made && echo x >made-by-check && rm committed"
	b := workspace.New(agent(t, "claude", script, clichain.Config{
		PassEnv: []string{"PASSED"}, Env: []string{"OWN=z"}, RequestEnv: []string{"ASKED"},
	}), &workspace.Config{Checks: [][]string{{"sh", "-c", check}}})
	req := work(repository(t))
	req.Env = map[string]string{"ASKED": "w"}
	resp, err := b.Complete(t.Context(), req)
	require.NoError(t, err)
	require.Len(t, resp.Changes.Files, 1)
}

func TestCheckConfinedLikeAgent(t *testing.T) {
	needConfinement(t)
	outside := t.TempDir()
	for confine, rejected := range map[call.Confinement]bool{call.ConfineOff: false, call.ConfineRequired: true} {
		b := workspace.New(agent(t, "claude", says(begin, answers), clichain.Config{Confine: confine}),
			&workspace.Config{Checks: [][]string{{"sh", "-c", ": >" + filepath.Join(outside, "new")}}})
		_, err := b.Complete(t.Context(), work(repository(t)))
		require.Equal(t, rejected, err != nil, "%v", err)
	}
}

func TestCheckTimeout(t *testing.T) {
	b := workspace.New(writer("f"), &workspace.Config{
		Checks: [][]string{{"tail", "-f", "/dev/null"}}, CheckTimeout: 100 * time.Millisecond,
	})
	_, err := b.Complete(t.Context(), work(repository(t)))
	require.ErrorIs(t, err, call.ErrRejected)
	require.ErrorContains(t, err, "it took longer than 100ms")
}

// An answer that a chain refuses has changed nothing, so the chain continues, unless its policy forbids that.
func TestChainAccept(t *testing.T) {
	needConfinement(t)
	for _, test := range []struct {
		confine call.Confinement
		replay  clichain.ReplayPolicy
		ends    bool
	}{
		{call.ConfineAuto, clichain.ReplayIfIdempotent, false}, {call.ConfineOff, clichain.ReplayIfIdempotent, true},
		{call.ConfineAuto, clichain.ReplayNever, true}, {call.ConfineOff, clichain.ReplayAlways, false},
	} {
		dir := repository(t)
		before := contents(t, dir)
		accept := func(_ context.Context, _ clichain.Request, resp *clichain.Response) error {
			if resp.Backend == "first" {
				return fmt.Errorf("%d files", len(resp.Changes.Files))
			}
			return nil
		}
		chain := clichain.ChainOf(wrapped(nil,
			agent(t, "first", says(begin, writes)+"echo x >made\n"+says(answers), clichain.Config{Confine: test.confine}),
			writer("second"),
		), &clichain.ChainConfig{Accept: accept, Replay: test.replay})
		resp, err := chain.Complete(t.Context(), work(dir))
		clean(t, dir, before)
		require.Equal(t, test.ends, err != nil, "%v: %v", test, err)
		if test.ends {
			require.ErrorIs(t, err, call.ErrRejected)
			continue
		}
		require.Equal(t, "second", resp.Backend)
		require.ErrorIs(t, resp.Attempts[0].Err, call.ErrRejected)
		require.ErrorContains(t, resp.Attempts[0].Err, "1 files")
	}
}

// A chain can be wrapped too. Its attempts share the copy.
func TestNewWithChain(t *testing.T) {
	needConfinement(t)
	dir := repository(t)
	before := contents(t, dir)
	chain := clichain.ChainOf([]clichain.Backend{
		agent(t, "first", "exit 1\n", clichain.Config{}),
		agent(t, "second", says(begin, writes)+"echo x >made\n"+says(answers), clichain.Config{}),
	}, nil)
	resp, err := workspace.New(chain, nil).Complete(t.Context(), work(dir))
	require.NoError(t, err)
	require.Equal(t, "second", resp.Backend)
	require.Len(t, resp.Changes.Files, 1)
	clean(t, dir, before)

	first := agent(t, "first", says(begin, writes)+"exit 1\n", clichain.Config{})
	failing := clichain.ChainOf([]clichain.Backend{first}, nil)
	_, err = clichain.ChainOf([]clichain.Backend{
		workspace.New(failing, &workspace.Config{LocalTools: []string{"Write"}}), workspace.New(writer("second"), nil),
	}, nil).Complete(t.Context(), work(dir))
	require.NoError(t, err)
	clean(t, dir, before)
}
