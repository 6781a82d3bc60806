package jetstream_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/jetstream"
	"github.com/clichain/clichain/permit"
	"github.com/stretchr/testify/require"
)

// A job with write access whose worker died is kept until a person retries it. A job with less access, or
// Idempotent, runs again automatically.
func TestWorkerIsLost(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name       string
		access     clichain.Access
		idempotent bool
		parked     bool
	}{
		{"nothing can have happened", clichain.AccessRead, false, false},
		{"something may have happened", clichain.AccessWrite, false, true},
		{"it may happen twice", clichain.AccessFull, true, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			q := open(t, embed(t), &jetstream.Config{AckWait: time.Second})
			j := job("a")
			j.Request.Access, j.Idempotent = test.access, test.idempotent
			submit(t, q, j)
			require.NoError(t, jetstream.TakeAndVanish(t.Context(), q, j, "gone"))
			work(t, q, echo(), &jetstream.WorkConfig{Permissions: permit.Permissions{Access: clichain.AccessFull}})
			r := collect(t, q, 1)["a"]
			require.Len(t, r.History, 1)
			require.Equal(t, clichain.ReasonKilled, r.History[0].Reason)
			if !test.parked {
				require.NotNil(t, r.Response)
				return
			}
			require.True(t, r.Failure.SideEffects)
			require.Contains(t, r.Failure.Message, "worker gone began it")
			require.NoError(t, q.Retry(t.Context(), "a"))
			require.NotNil(t, collect(t, q, 1)["a"].Response)
		})
	}
}

// A job of an isolated worker runs again after its worker died. It does not if another worker may have changed something
// before, or if the job has tools that act outside the copy.
func TestIsolatedWorkerIsLost(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		access clichain.Access
		marked bool // by a worker that changes the directory itself
		mcp    bool
		parked bool
	}{
		{"write access", clichain.AccessWrite, false, false, false},
		{"write access after a worker without copies", clichain.AccessWrite, true, false, true},
		{"full access", clichain.AccessFull, true, false, true},
		{"MCP servers of the job", clichain.AccessWrite, true, true, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			q := open(t, embed(t), &jetstream.Config{AckWait: time.Second})
			j := job("a")
			if j.Request.Access = test.access; test.mcp {
				j.Request.Options.MCPConfig = []json.RawMessage{[]byte(`{"mcpServers":{}}`)}
			}
			submit(t, q, j)
			require.NoError(t, jetstream.VanishIsolated(q))
			if test.marked {
				require.NoError(t, jetstream.Begin(t.Context(), q, j, "gone"))
			}
			work(t, q, echo(), &jetstream.WorkConfig{
				Isolated: true, Permissions: permit.Permissions{Access: clichain.AccessFull, MCP: true},
			})
			r := collect(t, q, 1)["a"]
			require.Equal(t, clichain.ReasonKilled, r.History[0].Reason)
			if test.parked {
				require.True(t, r.Failure.SideEffects)
				return
			}
			require.NotNil(t, r.Response)
			marked, err := jetstream.Marked(t.Context(), q, j)
			require.NoError(t, err)
			require.False(t, marked)
		})
	}
}

// An isolated worker marks a job whose changes leave the copy.
func TestIsolatedWorkerMarksJobs(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		access clichain.Access
		mcp    bool
		want   bool
	}{
		"write access": {clichain.AccessWrite, false, false}, "full access": {clichain.AccessFull, false, true},
		"MCP servers of the job": {clichain.AccessWrite, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			q := open(t, embed(t), nil)
			j := job("a")
			if j.Request.Access = test.access; test.mcp {
				j.Request.Options.MCPConfig = []json.RawMessage{[]byte(`{"mcpServers":{}}`)}
			}
			submit(t, q, j)
			work(t, q, backend(func(ctx context.Context, _ clichain.Request) (*clichain.Response, error) {
				marked, err := jetstream.Marked(ctx, q, j)
				return &clichain.Response{Text: fmt.Sprint(marked)}, err
			}), &jetstream.WorkConfig{
				Isolated: true, Permissions: permit.Permissions{Access: clichain.AccessFull, MCP: true},
			})
			require.Equal(t, fmt.Sprint(test.want), collect(t, q, 1)["a"].Response.Text)
		})
	}
}

// A slow worker that is still alive does not count as dead: another worker waits for it, and its answer is stored.
func TestWorkerIsSlow(t *testing.T) {
	t.Parallel()
	nc := embed(t)
	q := open(t, nc, &jetstream.Config{AckWait: time.Second})
	j := job("a")
	j.Request.Access = clichain.AccessWrite
	submit(t, q, j)
	running, answer := make(chan struct{}), make(chan struct{})
	slow := open(t, nc, nil)
	jetstream.NeverInProgress(slow)
	work(t, slow, backend(func(context.Context, clichain.Request) (*clichain.Response, error) {
		close(running)
		<-answer
		return &clichain.Response{Text: "slow"}, nil
	}), &jetstream.WorkConfig{Name: "slow", Permissions: permit.Permissions{Access: clichain.AccessWrite}})
	<-running
	work(t, q, echo(), &jetstream.WorkConfig{Name: "other", Permissions: permit.Permissions{Access: clichain.AccessWrite}})
	// The message alternates between the workers: at its third delivery the other worker has had it.
	require.Eventually(t, func() bool { return jetstream.Delivered(t.Context(), q) >= 3 }, limit, 10*time.Millisecond)
	close(answer)
	require.Equal(t, "slow", collect(t, q, 1)["a"].Response.Text)
}

// A job with more access than the worker grants waits for another worker, for any time.
func TestJobWithMoreAccessWaits(t *testing.T) {
	t.Parallel()
	q := open(t, embed(t), &jetstream.Config{MaxDeliver: 1})
	j := job("a")
	j.Request.Access = clichain.AccessWrite
	submit(t, q, j)
	work(t, q, echo(), &jetstream.WorkConfig{Permissions: permit.Permissions{Access: clichain.AccessRead}})
	awaitWhy(t, q, "a", "permission_refused (access): write is more than read")
	work(t, q, echo(), &jetstream.WorkConfig{Permissions: permit.Permissions{Access: clichain.AccessWrite}})
	r := collect(t, q, 1)["a"]
	require.NotNil(t, r.Response)
	require.Empty(t, r.History)
}

// awaitWhy waits until the queue reports why a job waits.
func awaitWhy(t *testing.T, q *jetstream.Queue, id, why string) {
	t.Helper()
	var got *jetstream.Waiting
	require.Eventually(t, func() bool {
		var err error
		got, err = q.Waiting(t.Context(), id)
		return err == nil && strings.Contains(got.Why, why)
	}, limit, 10*time.Millisecond, "%+v", &got)
}

// A worker without permissions leaves each job that needs more than an answer, whatever it needs. The job stays in
// the queue as submitted, for a worker that grants it.
func TestHostileJobs(t *testing.T) {
	t.Parallel()
	for name, set := range map[string]func(*clichain.Request){
		"access":    func(r *clichain.Request) { r.Access = clichain.AccessFull },
		"arguments": func(r *clichain.Request) { r.Options.Extra = map[string][]string{"claude": {"--tools=Bash"}} },
		"variables": func(r *clichain.Request) { r.Env = map[string]string{"SANDBOX": "x"} },
		"servers":   func(r *clichain.Request) { r.Options.MCPConfig = []json.RawMessage{[]byte(`"/etc/mcp.json"`)} },
		"images":    func(r *clichain.Request) { r.Options.Images = []string{"/etc/passwd"} },
		"sessions":  func(r *clichain.Request) { r.Session = "claude:1" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			q := open(t, embed(t), &jetstream.Config{MaxDeliver: 1})
			j := job("a")
			set(&j.Request)
			submit(t, q, j)
			refuses := backend(func(context.Context, clichain.Request) (*clichain.Response, error) {
				t.Error("it was asked")
				return nil, errors.New("asked")
			})
			work(t, q, refuses, nil)
			awaitWhy(t, q, "a", "permission_refused")
			stored, _, err := jetstream.Stored(t.Context(), q, "a")
			require.NoError(t, err)
			require.Equal(t, j.Request, stored.Request)
		})
	}
}

// A worker dies after it has stored the result: the job does not run again.
func TestWorkerDiesBeforeItAcknowledges(t *testing.T) {
	t.Parallel()
	q := open(t, embed(t), &jetstream.Config{AckWait: time.Second})
	submit(t, q, job("a"))
	require.NoError(t, jetstream.AnswerAndVanish(t.Context(), q, "a"))
	work(t, q, backend(func(context.Context, clichain.Request) (*clichain.Response, error) {
		t.Error("it has its result")
		return nil, context.Canceled
	}), nil)
	require.Eventually(t, func() bool {
		s, err := q.Status(t.Context())
		return err == nil && s.Running == 0 && s.Ready[jetstream.PriorityNormal] == 0
	}, limit, 10*time.Millisecond)
	require.Equal(t, "first", collect(t, q, 1)["a"].Response.Text)
}

// Workers report their state, and disappear from the status when they end.
func TestWorkersReport(t *testing.T) {
	t.Parallel()
	q := open(t, embed(t), nil)
	running, answer := make(chan struct{}), make(chan struct{})
	stop := work(t, q, backend(func(context.Context, clichain.Request) (*clichain.Response, error) {
		close(running)
		<-answer
		return &clichain.Response{Text: "x", Usage: clichain.Usage{InputTokens: 5, CostUSD: new(0.5)}}, nil
	}), &jetstream.WorkConfig{Name: "w1", Slots: 3, Grace: limit})
	submit(t, q, job("a"))
	<-running
	require.Eventually(t, func() bool {
		s, err := q.Status(t.Context())
		return err == nil && len(s.Workers) == 1 && s.Workers[0].Running == 1 && s.Workers[0].Alive && s.Running == 1
	}, limit, 10*time.Millisecond)
	close(answer)
	collect(t, q, 1)
	stop()
	s, err := q.Status(t.Context())
	require.NoError(t, err)
	require.Empty(t, s.Workers)
	require.Equal(t, map[string]int{"fake": 1}, s.Backends)
	require.EqualValues(t, 5, s.Usage.InputTokens)
	require.InDelta(t, 0.5, *s.Usage.CostUSD, 1e-9)
}
