package jetstream_test

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/jetstream"
	"github.com/clichain/clichain/permit"
	"github.com/clichain/clichain/specs"
	"github.com/stretchr/testify/require"
)

// only answers the jobs of one model. It skips all others with a reason.
func only(name, model string, reason clichain.Reason) clichain.Backend {
	return clichain.BackendFunc(name, func(_ context.Context, req clichain.Request) (*clichain.Response, error) {
		if req.Model != model {
			return nil, &clichain.BackendError{Reason: reason, Stage: call.StageSkipped, Message: "another model"}
		}
		return &clichain.Response{Text: "answer of " + name}, nil
	})
}

// A worker that cannot meet the needs of a job leaves it to a worker that can. That is no failed delivery.
func TestMixedFleetAnswersEachJob(t *testing.T) {
	t.Parallel()
	for _, reason := range []clichain.Reason{
		clichain.ReasonUnsupported, clichain.ReasonModelMismatch, clichain.ReasonNotInstalled, clichain.ReasonSuppressed,
	} {
		t.Run(string(reason), func(t *testing.T) {
			t.Parallel()
			q := open(t, embed(t), &jetstream.Config{MaxDeliver: 1})
			work(t, q, only("a", "one", reason), &jetstream.WorkConfig{Name: "a"})
			for i := range 6 {
				j := job(fmt.Sprint(i))
				j.Request.Model = []string{"one", "two"}[i%2]
				submit(t, q, j)
			}
			require.Eventually(t, func() bool { // the worker of the wrong kind has received each of them
				s, err := q.Status(t.Context())
				return err == nil && s.Answers == 3 && s.Running == 0
			}, limit, 20*time.Millisecond)
			work(t, q, only("b", "two", reason), &jetstream.WorkConfig{Name: "b"})
			for id, r := range collect(t, q, 6) {
				require.Nil(t, r.Failure, id)
				require.Empty(t, r.History, "it was never run without an answer")
			}
		})
	}
}

// Permissions decide like backends which worker runs a job.
func TestMixedPermissions(t *testing.T) {
	t.Parallel()
	q := open(t, embed(t), &jetstream.Config{MaxDeliver: 1})
	work(t, q, echo(), &jetstream.WorkConfig{Name: "none"})
	dir := t.TempDir()
	write, mode := job("write"), job("mode")
	write.Request.Access, write.Request.Dir = clichain.AccessWrite, dir
	mode.Request.Options.PermissionMode = "plan"
	submit(t, q, write, mode, job("plain"))
	require.Contains(t, collect(t, q, 1), "plain")
	work(t, q, echo(), &jetstream.WorkConfig{Name: "all", Permissions: permit.Permissions{
		Access: clichain.AccessWrite, Dirs: []string{dir}, Modes: []string{"plan"},
	}})
	got := collect(t, q, 3)
	require.Equal(t, "none", got["plain"].Worker)
	for _, id := range []string{"write", "mode"} {
		require.Nil(t, got[id].Failure, id)
		require.Equal(t, "all", got[id].Worker)
		require.Empty(t, got[id].History)
	}
}

// Jobs of one kind do not delay jobs of another, however many there are, and no worker is idle for long while a job
// that it can run waits.
func TestNoWorkerIsIdleWhileAJobWaits(t *testing.T) {
	t.Parallel()
	q := open(t, embed(t), nil)
	const jobs = 300
	for i := range jobs {
		j := job(fmt.Sprint("one ", i))
		j.Request.Model = "one"
		submit(t, q, j)
	}
	j := job("two")
	j.Request.Model = "two"
	submit(t, q, j)
	var before atomic.Int64 // jobs that the worker of the second kind received before its own
	second := only("b", "two", clichain.ReasonModelMismatch)
	began := time.Now()
	work(t, q, backend(func(ctx context.Context, req clichain.Request) (*clichain.Response, error) {
		if req.Model != "two" {
			before.Add(1)
		}
		return second.Complete(ctx, req)
	}), &jetstream.WorkConfig{Name: "b"})
	first := collect(t, q, 1)
	require.Contains(t, first, "two")
	require.NotNil(t, first["two"].Response)
	t.Logf("the job behind %d others was answered after %v, beside %d of them", jobs, time.Since(began), before.Load())
	require.LessOrEqual(t, before.Load(), int64(2), "it learns of the class from one job")
	work(t, q, only("a", "one", clichain.ReasonModelMismatch), &jetstream.WorkConfig{Name: "a", Slots: 4})
	collect(t, q, jobs+1)
}

// Status lists the jobs that no worker can take, and what each worker lacks. It lists no job that a worker can take.
func TestStatusShowsUnmetNeeds(t *testing.T) {
	t.Parallel()
	q := open(t, embed(t), nil)
	j, young := job("a"), job("young")
	j.Request.Model, j.Submitted = "two", time.Now().Add(-11*time.Minute)
	young.Request.Model = "three"
	submit(t, q, j, young)
	s, err := q.Status(t.Context())
	require.NoError(t, err)
	require.Len(t, s.Unmet, 1, "a young job may still find its worker")
	require.Equal(t, "no worker is connected", s.Unmet[0].Why)

	work(t, q, only("a", "one", clichain.ReasonModelMismatch), &jetstream.WorkConfig{Name: "w"})
	require.Eventually(t, func() bool {
		s, err = q.Status(t.Context())
		return err == nil && len(s.Unmet) == 1 && s.Unmet[0].Why != "no worker is connected"
	}, limit, 20*time.Millisecond)
	require.Equal(t, "model two", s.Unmet[0].Needs)
	require.Equal(t, 1, s.Unmet[0].Jobs)
	require.WithinDuration(t, j.Submitted, s.Unmet[0].Since, time.Second)
	require.Contains(t, s.Unmet[0].Why, "w: a: model_mismatch: another model")
	require.Zero(t, s.Failures)

	work(t, q, only("b", "two", clichain.ReasonModelMismatch), nil)
	require.Contains(t, collect(t, q, 1), "a")
	s, err = q.Status(t.Context())
	require.NoError(t, err)
	require.Empty(t, s.Unmet)
}

// Workers report which jobs they take.
func TestWorkersAnnounce(t *testing.T) {
	t.Parallel()
	q := open(t, embed(t), nil)
	dir := t.TempDir()
	chain := clichain.ChainOf([]clichain.Backend{only("a", "", ""), only("b", "", "")}, nil)
	work(t, q, chain, &jetstream.WorkConfig{Name: "w", Permissions: permit.Permissions{
		Access: clichain.AccessRead, Dirs: []string{dir}, Models: []string{"haiku"},
	}})
	require.Eventually(t, func() bool {
		s, err := q.Status(t.Context())
		return err == nil && len(s.Workers) == 1
	}, limit, 20*time.Millisecond)
	s, err := q.Status(t.Context())
	require.NoError(t, err)
	w := s.Workers[0]
	require.Equal(t, []string{"a", "b"}, w.Backends)
	require.Equal(t, []string{"haiku"}, w.Models)
	require.Equal(t, []string{dir}, w.Dirs)
	require.Equal(t, clichain.AccessRead, w.Access)
	require.Equal(t, runtime.GOOS+"/"+runtime.GOARCH, w.Platform)
	require.Equal(t, 4, w.Protocol)
}

// Another worker's CLI may know a session that this worker's CLI does not know. If no CLI knows it, the job fails.
func TestSessionOfAnotherMachine(t *testing.T) {
	t.Parallel()
	without := clichain.BackendFunc("cli", func(context.Context, clichain.Request) (*clichain.Response, error) {
		return nil, &clichain.BackendError{Reason: clichain.ReasonBadSession, Stage: call.StageSkipped}
	})
	with := clichain.BackendFunc("cli", func(context.Context, clichain.Request) (*clichain.Response, error) {
		return &clichain.Response{Text: "x"}, nil
	})
	other := clichain.BackendFunc("other", func(context.Context, clichain.Request) (*clichain.Response, error) {
		t.Error("it is a session of another backend")
		return nil, context.Canceled
	})
	q := open(t, embed(t), nil)
	sessions := permit.Permissions{Sessions: true}
	work(t, q, other, &jetstream.WorkConfig{Name: "other", Permissions: sessions})
	stop := work(t, q, without, &jetstream.WorkConfig{Name: "without", Permissions: sessions})
	known, unknown := job("known"), job("unknown")
	known.Request.Session, unknown.Request.Session = "cli:1", "cli:2"
	work(t, q, with, &jetstream.WorkConfig{Name: "with", Permissions: sessions})
	require.Eventually(t, func() bool {
		s, err := q.Status(t.Context())
		return err == nil && len(s.Workers) == 3
	}, limit, 20*time.Millisecond)
	submit(t, q, known)
	r := collect(t, q, 1)["known"]
	require.Nil(t, r.Failure)
	require.Equal(t, "with", r.Worker)
	stop()

	lonely := open(t, embed(t), nil)
	work(t, lonely, without, &jetstream.WorkConfig{Permissions: sessions})
	submit(t, lonely, unknown)
	require.Equal(t, clichain.ReasonBadSession, collect(t, lonely, 1)["unknown"].Failure.Reason)
}

// A queue has a bounded number of consumers for any number of classes, and each job finds its worker.
func TestManyKindsOfJobs(t *testing.T) {
	t.Parallel()
	q := open(t, embed(t), nil)
	jetstream.MaxClasses(q, 6, time.Second)
	const jobs = 12
	for i := range jobs {
		j := job(fmt.Sprint(i))
		j.Request.Model = "m" + j.ID
		submit(t, q, j)
	}
	require.LessOrEqual(t, jetstream.Consumers(q), 7)
	var asked atomic.Int64
	refuses := only("a", "none", clichain.ReasonModelMismatch)
	stop := work(t, q, backend(func(ctx context.Context, req clichain.Request) (*clichain.Response, error) {
		asked.Add(1)
		return refuses.Complete(ctx, req)
	}), nil)
	require.Eventually(t, func() bool { return asked.Load() >= jobs }, limit, time.Millisecond)
	stop()
	work(t, q, echo(), &jetstream.WorkConfig{Slots: 4})
	collect(t, q, jobs)
}

// The data that a server shows to its administrators has only the fields of a request that decide which workers can run
// it.
func TestNeedsHoldNoSecrets(t *testing.T) {
	const secret = "SECRET"
	j := jetstream.Job{ID: secret, Trace: map[string]string{secret: secret}, Request: clichain.Request{
		Messages: []clichain.Message{{Role: clichain.RoleUser, Content: secret}}, Model: "haiku", Session: "cli:" + secret,
		Schema: []byte(`"SECRET"`), Env: map[string]string{"APP_ID": secret}, Metadata: map[string]string{secret: secret},
		Options: clichain.Options{
			AppendSystem: secret, Agents: []byte(`"SECRET"`), MCPConfig: []json.RawMessage{[]byte(`"SECRET"`)},
			Extra: map[string][]string{"cli": {secret}}, SessionID: secret, AllowedTools: []string{"Read"},
		},
	}}
	before, after := jetstream.NeedsOf(j)
	require.NotContains(t, before+after, secret)
	require.NotContains(t, before, "APP_ID")
	for _, want := range []string{"haiku", "cli", "APP_ID", "Read"} {
		require.Contains(t, after, want)
	}
}

// answering is a Provider that answers without its CLI.
type answering struct{ *clichain.Provider }

func (a answering) Unwrap() clichain.Backend { return a.Provider }

func (a answering) Complete(ctx context.Context, req clichain.Request) (*clichain.Response, error) {
	return call.Collect(a.Stream(ctx, req))
}

func (a answering) Stream(ctx context.Context, req clichain.Request) iter.Seq2[clichain.Event, error] {
	if err := a.Check(ctx, req); err != nil {
		return func(yield func(clichain.Event, error) bool) { yield(clichain.Event{}, err) }
	}
	return echo().Stream(ctx, req)
}

// A CLI may not trust the worker's own working directory. The worker still takes jobs in other directories.
func TestUntrustedWorkingDirectory(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	t.Setenv("SKIP_CLI", "")
	hostile, clean := t.TempDir(), t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(hostile, "GEMINI.md"), []byte("x"), 0o600))
	p := clichain.NewProvider(specs.Gemini(), &clichain.Config{
		Binary: clitest.Fake(t, "gemini", clitest.Scenario{}), Env: []string{"GEMINI_API_KEY=x"},
	})
	t.Chdir(hostile)
	bad, good := job("bad"), job("good")
	bad.Request.Access, good.Request.Access = clichain.AccessRead, clichain.AccessRead
	bad.Request.Dir, good.Request.Dir = hostile, clean
	require.ErrorIs(t, p.Check(t.Context(), bad.Request), clichain.ErrUntrustedDir)

	q := open(t, embed(t), &jetstream.Config{MaxDeliver: 1})
	work(t, q, clichain.ChainOf([]clichain.Backend{answering{p}}, nil), &jetstream.WorkConfig{Permissions: permit.Permissions{
		Access: clichain.AccessRead, Dirs: []string{hostile, clean},
	}})
	submit(t, q, bad, good)
	require.Contains(t, collect(t, q, 1), "good")
	awaitWhy(t, q, "bad", "untrusted_dir")
}
