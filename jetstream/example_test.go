package jetstream_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/jetstream"
	"github.com/stretchr/testify/require"
)

// The snippet of docs/explanation/queue.md.
func snippetQueue(ctx context.Context, chain *clichain.Chain) error {
	server, err := jetstream.Embed("jobs.queue") // or a connection to a cluster, by nats.Connect
	if err != nil {
		return err
	}
	defer server.Close()
	nc, err := server.Connect()
	if err != nil {
		return err
	}
	defer nc.Close()
	q, err := jetstream.Open(ctx, nc, nil)
	if err != nil {
		return err
	}
	job := jetstream.Job{ID: "1", Request: clichain.Prompt("Name three uses of a paper clip.")}
	if err := q.Submit(ctx, job); err != nil && !errors.Is(err, jetstream.ErrExists) {
		return err
	}
	return q.Work(ctx, chain, &jetstream.WorkConfig{Slots: 4})
}

func TestQueuePage(t *testing.T) {
	page, err := os.ReadFile("../docs/explanation/queue.md")
	require.NoError(t, err)
	code, err := os.ReadFile("example_test.go")
	require.NoError(t, err)
	plain := strings.NewReplacer("\t", "")
	for _, block := range regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(string(page), -1) {
		require.Contains(t, plain.Replace(string(code)), plain.Replace(block[1]))
	}
	t.Chdir(t.TempDir())
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	once := backend(func(context.Context, clichain.Request) (*clichain.Response, error) {
		cancel()
		return &clichain.Response{Text: "x"}, nil
	})
	require.NoError(t, snippetQueue(ctx, clichain.ChainOf([]clichain.Backend{once}, nil)))
	require.Error(t, ctx.Err(), "the worker has no job")
}

// A queue in this process with one job and its answer.
func Example() {
	folder, err := os.MkdirTemp("", "example-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(folder)
	server, err := jetstream.Embed(folder)
	if err != nil {
		panic(err)
	}
	defer server.Close()
	nc, err := server.Connect()
	if err != nil {
		panic(err)
	}
	defer nc.Close()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	q, err := jetstream.Open(ctx, nc, nil)
	if err != nil {
		panic(err)
	}
	if err := q.Submit(ctx, jetstream.Job{ID: "1", Request: clichain.Prompt("hi")}); err != nil {
		panic(err)
	}
	answer := clichain.BackendFunc("echo", func(_ context.Context, req clichain.Request) (*clichain.Response, error) {
		return &clichain.Response{Text: "You said " + req.Messages[0].Content + "."}, nil
	})
	err = q.Work(ctx, answer, &jetstream.WorkConfig{OnResult: func(r *jetstream.Result) {
		fmt.Println(r.Response.Text)
		cancel()
	}})
	if err != nil {
		panic(err)
	}
	// Output: You said hi.
}

// Submit a job and wait for its result. The worker may be on another machine.
func ExampleQueue_Wait() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	q, done := exampleQueue(ctx)
	defer done()
	if err := q.Submit(ctx, jetstream.Job{ID: "1", Request: clichain.Prompt("hi")}); err != nil {
		panic(err)
	}
	_, err := q.Result(ctx, "1")
	fmt.Println(errors.Is(err, jetstream.ErrPending))
	go func() {
		_ = q.Work(ctx, clichain.BackendFunc("echo", func(_ context.Context, req clichain.Request) (*clichain.Response, error) {
			return &clichain.Response{Text: "You said " + req.Messages[0].Content + "."}, nil
		}), nil)
	}()
	r, err := q.Wait(ctx, "1")
	if err != nil {
		panic(err)
	}
	fmt.Println(r.Response.Text)
	// Output:
	// true
	// You said hi.
}

// exampleQueue returns a queue in a directory that done removes.
func exampleQueue(ctx context.Context) (q *jetstream.Queue, done func()) {
	folder, err := os.MkdirTemp("", "example-")
	if err != nil {
		panic(err)
	}
	server, err := jetstream.Embed(folder)
	if err != nil {
		panic(err)
	}
	nc, err := server.Connect()
	if err != nil {
		panic(err)
	}
	if q, err = jetstream.Open(ctx, nc, nil); err != nil {
		panic(err)
	}
	return q, func() {
		nc.Close()
		_ = server.Close()
		_ = os.RemoveAll(folder)
	}
}
