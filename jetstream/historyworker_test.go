package jetstream_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/internal/history"
	"github.com/clichain/clichain/jetstream"
	"github.com/nats-io/nats.go"
)

// historyVariable is the environment variable of a worker process that records its writes: the path of the history.
const historyVariable = "CLICHAIN_TEST_HISTORY"

// historyWorker is a worker process that records when it begins to write a result, and whether it was stored.
func historyWorker(url, path string) {
	l := history.New(path)
	w := &historyWriter{log: l, writes: map[*jetstream.Job]*historyWrite{}}
	nc, err := nats.Connect(url, nats.MaxReconnects(-1), nats.SetCustomDialer(&w.network))
	must(err)
	q, err := jetstream.Open(context.Background(), nc, historyConfig)
	must(err)
	must(q.Work(context.Background(), noCooldown(backend(w.answer)), &jetstream.WorkConfig{
		Slots: 2, Context: func(ctx context.Context, j *jetstream.Job) context.Context {
			return context.WithValue(ctx, w, j)
		},
		OnResult: w.stored, OnEnd: w.ended,
	}))
}

// historyWriter records the writes of one worker.
type historyWriter struct {
	log     *history.Log
	network stallingDialer
	mu      sync.Mutex
	writes  map[*jetstream.Job]*historyWrite
}

type historyWrite struct {
	value  string
	stored bool
	end    func(any)
}

func (w *historyWriter) answer(ctx context.Context, _ clichain.Request) (*clichain.Response, error) {
	job := ctx.Value(w).(*jetstream.Job)
	time.Sleep(rand.N(3 * time.Millisecond)) // the run of a CLI
	write := &historyWrite{value: fmt.Sprintf("%s by %d at %d", job.ID, os.Getpid(), time.Now().UnixNano())}
	switch rand.IntN(16) {
	case 0, 1:
		w.kill(time.Millisecond) // during the write
	case 2:
		w.kill(20 * time.Millisecond) // at any time
	case 3, 4:
		w.network.stall(3 * historyConfig.AckWait) // another worker gets the job
	}
	write.end = w.log.Begin(queueOperation{Kind: "write", ID: job.ID, Value: write.value})
	w.mu.Lock()
	defer w.mu.Unlock()
	w.writes[job] = write
	return &clichain.Response{Text: write.value}, nil
}

// kill kills this process within a time.
func (w *historyWriter) kill(within time.Duration) {
	self, err := os.FindProcess(os.Getpid())
	must(err)
	time.AfterFunc(rand.N(within), func() { _ = self.Kill() })
}

func (w *historyWriter) stored(r *jetstream.Result) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, write := range w.writes {
		write.stored = write.stored || r.Response != nil && r.Response.Text == write.value
	}
}

// ended records the end of a write: the result was stored, or the job had another one.
func (w *historyWriter) ended(job *jetstream.Job) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch write := w.writes[job]; {
	case write == nil: // it was not run
	case write.stored:
		write.end(queueOutcome{Kind: "done"})
	default:
		write.end(queueOutcome{Kind: "exists"})
	}
	delete(w.writes, job)
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// stallingDialer dials connections on which nothing is sent while they are stalled.
type stallingDialer struct{ until atomic.Int64 }

func (d *stallingDialer) stall(length time.Duration) {
	d.until.Store(time.Now().Add(length).UnixNano())
}

// Dial implements nats.CustomDialer.
func (d *stallingDialer) Dial(network, address string) (net.Conn, error) {
	conn, err := net.Dial(network, address)
	return &stallingConn{conn, d}, err
}

type stallingConn struct {
	net.Conn
	dialer *stallingDialer
}

func (c *stallingConn) Write(data []byte) (int, error) {
	time.Sleep(time.Until(time.Unix(0, c.dialer.until.Load())))
	return c.Conn.Write(data)
}
