package jetstream_test

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/jetstream"
	"github.com/clichain/clichain/permit"
	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// interrupted is a connection to a server. It calls before each request.
type interrupted struct {
	net.Conn
	before *atomic.Pointer[func()]
}

func (c interrupted) Write(p []byte) (int, error) {
	if before := c.before.Load(); before != nil && bytes.Contains(p, []byte("PUB ")) {
		(*before)()
	}
	return c.Conn.Write(p)
}

// interrupting connects to a server, and calls before each request what before holds.
type interrupting struct{ before *atomic.Pointer[func()] }

func (d interrupting) Dial(network, address string) (net.Conn, error) {
	conn, err := net.Dial(network, address)
	return interrupted{conn, d.before}, err
}

// interruptedQueue returns two clients of a queue. The func in before is called before each request of the first one.
func interruptedQueue(t *testing.T) (q *jetstream.Queue, before *atomic.Pointer[func()], other *jetstream.Queue) {
	t.Helper()
	s := listen(t)
	before = new(atomic.Pointer[func()])
	slow, err := nats.Connect(s.ClientURL(), nats.SetCustomDialer(interrupting{before}))
	require.NoError(t, err)
	t.Cleanup(slow.Close)
	fast, err := nats.Connect(s.ClientURL())
	require.NoError(t, err)
	t.Cleanup(fast.Close)
	return open(t, slow, nil), before, open(t, fast, nil)
}

// Submit refuses a job that a worker finishes at any moment of Submit.
func TestSubmitOfJobThatEnds(t *testing.T) {
	t.Parallel()
	q, before, other := interruptedQueue(t)
	running, answer, finished := make(chan string, 10), make(chan bool, 10), make(chan string, 10)
	work(t, other, backend(func(ctx context.Context, req clichain.Request) (*clichain.Response, error) {
		running <- req.Messages[0].Content
		select {
		case <-answer:
			return &clichain.Response{Text: "answer"}, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}), &jetstream.WorkConfig{OnResult: func(r *jetstream.Result) { finished <- r.ID }})

	for request := 0; ; request++ {
		j := job(fmt.Sprint(request))
		submit(t, other, j)
		require.Equal(t, "prompt of "+j.ID, <-running)
		sent, end := 0, func() {
			answer <- true
			require.Equal(t, j.ID, <-finished)
		}
		interrupt := func() {
			if sent++; sent == request+1 {
				end()
			}
		}
		before.Store(&interrupt)
		err := q.Submit(t.Context(), j)
		before.Store(nil)
		require.ErrorIs(t, err, jetstream.ErrExists, "it ends before request %d", request)
		if sent <= request {
			require.Positive(t, request)
			end()
			return
		}
	}
}

// A job runs once, even if another client submits it and a worker finishes it at any moment of Submit.
func TestSubmitOfJobThatBeginsAndEnds(t *testing.T) {
	t.Parallel()
	q, before, other := interruptedQueue(t)
	dir, runs := t.TempDir(), atomic.Int64{}
	finished := make(chan string, 10)
	work(t, other, backend(func(context.Context, clichain.Request) (*clichain.Response, error) {
		runs.Add(1)
		return &clichain.Response{Text: "answer"}, nil
	}), &jetstream.WorkConfig{
		Permissions: permit.Permissions{Access: clichain.AccessWrite, Dirs: []string{dir}},
		OnEnd:       func(j *jetstream.Job) { finished <- j.ID },
	})

	for request := 0; ; request++ {
		j := job(fmt.Sprint(request))
		j.Request.Access, j.Request.Dir = clichain.AccessWrite, dir
		sent := 0
		interrupt := func() {
			if sent++; sent == request+1 {
				assert.NoError(t, other.Submit(t.Context(), j))
				assert.Equal(t, j.ID, <-finished)
			}
		}
		before.Store(&interrupt)
		err := q.Submit(t.Context(), j)
		before.Store(nil)
		if err != nil {
			require.ErrorIs(t, err, jetstream.ErrExists, "before request %d", request)
		}
		require.Eventually(t, func() bool {
			status, err := other.Status(t.Context())
			return err == nil && status.Ready[jetstream.PriorityNormal] == 0 && status.Running == 0
		}, limit, time.Millisecond)
		require.EqualValues(t, request+1, runs.Load(), "before request %d", request)
		if sent <= request {
			require.Greater(t, request, 2)
			return
		}
	}
}
