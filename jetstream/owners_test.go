package jetstream_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/jetstream"
	js "github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"
)

func owned(id, owner string) jetstream.Job {
	j := job(id)
	j.Owner = owner
	return j
}

// stepping answers a job for each value in allowed, and records the order of the starts.
type stepping struct {
	mu      sync.Mutex
	started []string
	allowed chan struct{}
}

func (s *stepping) backend() clichain.Backend {
	return backend(func(ctx context.Context, req clichain.Request) (*clichain.Response, error) {
		s.mu.Lock()
		s.started = append(s.started, strings.TrimPrefix(req.Messages[0].Content, "prompt of "))
		s.mu.Unlock()
		select {
		case <-s.allowed:
			return &clichain.Response{Text: "x"}, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	})
}

func (s *stepping) starts() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.started...)
}

// await waits until so many jobs have started.
func (s *stepping) await(t *testing.T, n int) []string {
	t.Helper()
	require.Eventually(t, func() bool { return len(s.starts()) >= n }, limit, time.Millisecond)
	return s.starts()
}

// A job behind 300 jobs of another owner starts in the next free slot, also if these have several models or no
// owner.
func TestOwnersTakeTurns(t *testing.T) {
	t.Parallel()
	for name, crowd := range map[string]func(i int) jetstream.Job{
		"jobs of one owner":     func(i int) jetstream.Job { return owned(fmt.Sprint("crowd ", i), "alice") },
		"jobs without an owner": func(i int) jetstream.Job { return job(fmt.Sprint("crowd ", i)) },
		"jobs of one owner with several models": func(i int) jetstream.Job {
			j := owned(fmt.Sprint("crowd ", i), "alice")
			j.Request.Model = fmt.Sprint("m", i%7)
			return j
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			q := open(t, embed(t), nil)
			for i := range 300 {
				submit(t, q, crowd(i))
			}
			s := &stepping{allowed: make(chan struct{})}
			work(t, q, s.backend(), nil)
			s.await(t, 1)
			second := owned("bob 2", "bob")
			second.Request.Model = "other" // the turns are those of owners, not of classes
			submit(t, q, owned("bob 1", "bob"), second)
			require.Eventually(t, func() bool { // the server has announced the jobs
				status, err := q.Status(t.Context())
				return err == nil && slices.ContainsFunc(status.Owners, func(o jetstream.OwnerStatus) bool {
					return o.Owner == "bob" && o.Waiting == 2
				})
			}, limit, time.Millisecond)
			for range 3 {
				s.allowed <- struct{}{}
			}
			started := s.await(t, 4)
			require.Equal(t, "bob 1", started[1], "%q", started)
			require.Equal(t, "bob 2", started[3], "the other owner has a turn between them: %q", started)
		})
	}
}

// A worker with many free slots divides them between the owners.
func TestOwnersShareFreeSlots(t *testing.T) {
	t.Parallel()
	q := open(t, embed(t), nil)
	for i := range 20 {
		submit(t, q, owned(fmt.Sprint("alice ", i), "alice"))
	}
	for i := range 20 {
		submit(t, q, owned(fmt.Sprint("bob ", i), "bob"))
	}
	s := &stepping{allowed: make(chan struct{})}
	work(t, q, s.backend(), &jetstream.WorkConfig{Slots: 8})
	of := map[string]int{}
	for _, id := range s.await(t, 8) {
		owner, _, _ := strings.Cut(id, " ")
		of[owner]++
	}
	require.GreaterOrEqual(t, of["alice"], 3)
	require.GreaterOrEqual(t, of["bob"], 3)
}

// A higher priority of any owner precedes the turns.
func TestPriorityPrecedesTurns(t *testing.T) {
	t.Parallel()
	q := open(t, embed(t), nil)
	high := owned("high", "alice")
	high.Priority = jetstream.PriorityHigh
	submit(t, q, owned("bob", "bob"), high)
	s := &stepping{allowed: make(chan struct{})}
	work(t, q, s.backend(), nil)
	require.Equal(t, []string{"high"}, s.await(t, 1))
}

// Workers serve the jobs that the previous version has stored, with and beside jobs that have owners. The message is
// one that protocol 3 wrote.
func TestThirdProtocolIsRead(t *testing.T) {
	t.Parallel()
	nc := embed(t)
	q := open(t, nc, nil)
	const class = "n009f115a2e8c3f4f"
	stream, err := js.New(nc)
	require.NoError(t, err)
	_, err = stream.CreateConsumer(t.Context(), "clichain_default_jobs", js.ConsumerConfig{
		Durable: "normal-" + class, FilterSubject: "clichain.default.job." + class + ".normal.*",
		AckPolicy: js.AckExplicitPolicy, AckWait: 30 * time.Second, MaxDeliver: -1, MaxAckPending: -1,
		Metadata: map[string]string{"clichain-needs": `{"protocol":3,"request":{"messages":null}}`},
	})
	require.NoError(t, err)
	require.NoError(t, jetstream.Restore(t.Context(), q,
		"clichain.default.job."+class+".normal.80cfa3e7f28dde4df64436b652230aff", nil,
		`{"id":"waiting","request":{"messages":[{"role":"user","content":"prompt of waiting"}]},`+
			`"submitted":"2026-02-02T00:00:00Z","protocol":3}`))
	require.ErrorIs(t, q.Submit(t.Context(), owned("waiting", "alice")), jetstream.ErrExists)
	submit(t, q, owned("other", "alice"))
	work(t, q, echo(), nil)
	got := collect(t, q, 2)
	require.Equal(t, "echo prompt of waiting", got["waiting"].Response.Text)
	require.Empty(t, got["waiting"].Owner)
	require.Equal(t, "alice", got["other"].Owner)
}

// Workers of protocol 3 leave a job with an owner in the queue, and Waiting names the version that it needs.
func TestOlderWorkersLeaveOwnedJobs(t *testing.T) {
	t.Parallel()
	nc := embed(t)
	older := open(t, nc, nil)
	jetstream.WorkLike(older, 3)
	q := open(t, nc, nil)
	submit(t, q, owned("a", "team-a"))
	stop := work(t, older, echo(), &jetstream.WorkConfig{Name: "older"})
	awaitWhy(t, q, "a", "older: it needs protocol 4, and this worker has protocol 3")
	stop()
	work(t, q, echo(), nil)
	require.NotNil(t, collect(t, q, 1)["a"].Response)
}

func TestHostileOwners(t *testing.T) {
	t.Parallel()
	q := open(t, embed(t), nil)
	for _, owner := range []string{
		"Alice", "a.b", "a b", "*", ">", "a@b", "a\n", "-a", "_a", "ä", "a/../b", "\x00", "a=b", strings.Repeat("a", 64), "a\x1b[2J",
	} {
		err := q.Submit(t.Context(), owned("x", owner))
		require.ErrorIs(t, err, clichain.ErrBadOption, "%q", owner)
		require.ErrorContains(t, err, "an owner has 1 to 63 characters", "%q", owner)
		require.Less(t, len(err.Error()), 500)
	}
	for _, owner := range []string{"a", "0", "team-a_1", strings.Repeat("a", 63)} {
		submit(t, q, owned(owner, owner))
	}
	work(t, q, echo(), nil)
	for id, r := range collect(t, q, 4) {
		require.Equal(t, id, r.Owner)
	}
}

// The owner and the priority of a job are those of its subject, also after a failure, because permissions of the server
// limit the subject.
func TestSubjectDecidesOwner(t *testing.T) {
	t.Parallel()
	q := open(t, embed(t), nil)
	submit(t, q, owned("a", "mallory"))
	forged := `{"id":"a","owner":"alice","priority":"high","protocol":4,` +
		`"request":{"messages":[{"role":"user","content":"x"}]}}`
	require.NoError(t, jetstream.Rewrite(t.Context(), q, "a", []byte(forged)))
	failed := make(chan jetstream.Job, 1)
	stop := work(t, q, backend(func(context.Context, clichain.Request) (*clichain.Response, error) {
		return nil, &clichain.BackendError{Reason: clichain.ReasonOverloaded, Message: "busy"}
	}), &jetstream.WorkConfig{OnPark: func(j *jetstream.Job, _ jetstream.Delivery) { failed <- *j }})
	got := <-failed
	stop()
	require.Equal(t, "mallory", got.Owner)
	require.Equal(t, jetstream.PriorityNormal, got.Priority)
	subject, err := jetstream.SubjectOf(t.Context(), q, "a")
	require.NoError(t, err)
	require.Contains(t, subject, ".normal@mallory.")
}

// A schedule cannot move a job into the group of another owner.
func TestScheduleCannotChangeOwner(t *testing.T) {
	t.Parallel()
	q := open(t, embed(t), nil)
	submit(t, q, owned("first", "alice"), owned("moved", "mallory"))
	subject, err := jetstream.SubjectOf(t.Context(), q, "moved")
	require.NoError(t, err)
	target := strings.Replace(subject, "mallory", "alice", 1)
	require.NoError(t, q.Drop(t.Context(), "moved"))
	from := strings.Replace(subject, ".n", ".unknown", 1) // no consumer takes the schedule itself
	require.NoError(t, jetstream.Restore(t.Context(), q, from, map[string][]string{
		"Nats-Schedule":        {"@at " + time.Now().UTC().Format(time.RFC3339Nano)},
		"Nats-Schedule-Target": {target},
	}, `{"id":"moved","owner":"alice","protocol":4,"request":{"messages":[{"role":"user","content":"forged"}]}}`))
	work(t, q, backend(func(_ context.Context, req clichain.Request) (*clichain.Response, error) {
		if req.Messages[0].Content == "forged" {
			t.Error("the forged job was run")
		}
		return &clichain.Response{Text: "x"}, nil
	}), nil)
	got := collect(t, q, 2)
	require.NotNil(t, got["first"].Response)
	failed := got["unreadable "+target]
	require.NotNil(t, failed, "%v", got)
	require.Contains(t, failed.Failure.Message, "it was scheduled for normal@alice from normal@mallory")
}

// A queue has a bounded number of consumers for any number of owners. Each job is run, and the jobs of the shared
// consumers keep their owners and priorities.
func TestManyOwners(t *testing.T) {
	t.Parallel()
	nc := embed(t)
	q := open(t, nc, nil)
	jetstream.MaxClasses(q, 5, time.Second)
	const jobs = 30
	for i := range jobs {
		j := owned(fmt.Sprint(i), fmt.Sprintf("owner%d", i))
		j.Priority = []jetstream.Priority{jetstream.PriorityNormal, jetstream.PriorityHigh}[i%2]
		submit(t, q, j)
	}
	require.LessOrEqual(t, jetstream.Consumers(q), 12)
	require.Eventually(t, func() bool { // the server announces a job a moment after storing it
		d, err := q.Depth(t.Context())
		return err == nil && d.Ready[jetstream.PriorityHigh] == jobs/2
	}, limit, 10*time.Millisecond)
	work(t, open(t, nc, nil), echo(), &jetstream.WorkConfig{Slots: 4})
	for id, r := range collect(t, q, jobs) {
		require.Equal(t, "owner"+id, r.Owner)
	}
}

// Status counts the jobs and results of each owner.
func TestStatusCountsOwners(t *testing.T) {
	t.Parallel()
	q := open(t, embed(t), nil)
	submit(t, q, job("plain"))
	s, err := q.Status(t.Context())
	require.NoError(t, err)
	require.Empty(t, s.Owners, "no job has an owner")
	submit(t, q, owned("a1", "alice"), owned("a2", "alice"), owned("b1", "bob"))
	cost := 0.5
	work(t, q, backend(func(_ context.Context, req clichain.Request) (*clichain.Response, error) {
		if strings.HasSuffix(req.Messages[0].Content, "b1") {
			return nil, &clichain.BackendError{Reason: clichain.ReasonBadRequest, Message: "no"}
		}
		return &clichain.Response{Text: "x", Usage: clichain.Usage{InputTokens: 3, CostUSD: &cost}}, nil
	}), nil)
	collect(t, q, 4)
	require.Eventually(t, func() bool { // the last job has left the queue
		s, err = q.Status(t.Context())
		return err == nil && s.Running == 0
	}, limit, 10*time.Millisecond)
	require.Len(t, s.Owners, 3)
	require.Equal(t, "", s.Owners[0].Owner)
	alice, bob := s.Owners[1], s.Owners[2]
	require.Equal(t, 2, alice.Answers)
	require.Equal(t, int64(6), alice.Usage.InputTokens)
	require.InDelta(t, 1, *alice.Usage.CostUSD, 1e-9)
	require.Equal(t, "bob", bob.Owner)
	require.Equal(t, 1, bob.Failures)
	require.Zero(t, bob.Waiting+bob.Running)
}
