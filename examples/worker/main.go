// Worker answers prompts with warm CLI processes, eight at once. It reads one prompt from each line of stdin and writes
// one JSON object to each line of stdout. After SIGTERM or SIGINT it reads no more prompts, gives the calls in flight
// some time to finish, ends all processes and reports those that remain.
//
// The exit code is 0 if the input ended and all prompts were answered, 1 otherwise, and 2 if the program could not
// start. CLICHAIN_SPECS names a file of specs that replace the built-in ones.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/live"
	"github.com/clichain/clichain/specs"
)

const (
	workers = 8
	maxLine = 16 << 20 // bytes of a prompt
)

var errGrace = errors.New("worker: grace period exceeded")

func main() {
	grace := flag.Duration("grace", 20*time.Second, "time for calls in flight to finish after a signal")
	flag.Parse()
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	list, err := loadSpecs(os.Getenv("CLICHAIN_SPECS"))
	if err != nil {
		log.Error("no specs", "error", err)
		os.Exit(2)
	}
	pool, chain := pooled(list, log)
	w := &worker{chain: chain, log: log, out: json.NewEncoder(os.Stdout)}
	whole := w.work(os.Stdin, *grace)
	if !shut(pool, log) || !whole {
		os.Exit(1)
	}
}

// loadSpecs reads a file of specs. Without a file it returns the built-in specs.
func loadSpecs(file string) ([]clichain.CliSpec, error) {
	if file == "" {
		return specs.All(), nil
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return specs.Load(f)
}

// pooled returns a chain whose backends keep their processes.
func pooled(list []clichain.CliSpec, log *slog.Logger) (*live.Pool, *clichain.Chain) {
	var providers []*clichain.Provider
	for _, spec := range list {
		providers = append(providers, clichain.NewProvider(spec, &clichain.Config{Timeout: time.Minute}))
	}
	pool := live.NewPool(providers, &live.PoolConfig{Size: workers})
	return pool, clichain.ChainOf(pool.Backends(), &clichain.ChainConfig{Hooks: clichain.LogHooks(log)})
}

// shut closes the pool and reports whether no process remains.
func shut(pool *live.Pool, log *slog.Logger) (clean bool) {
	report, stats := pool.Close(), pool.Stats()
	log.Info("pool closed", "ended", report.Ended, "started", stats.Started, "warm", stats.Warm, "cold", stats.Cold)
	for _, process := range report.Left {
		log.Error("processes may remain", "process", process)
	}
	return len(report.Left) == 0
}

// prompt is a line of the input.
type prompt struct {
	line int
	text string
}

// answer is a line of the output.
type answer struct {
	Line    int             `json:"line"` // line of the input, from 1
	Text    string          `json:"text,omitempty"`
	Backend string          `json:"backend,omitempty"`
	Reason  clichain.Reason `json:"reason,omitempty"` // why there is no text
	Error   string          `json:"error,omitempty"`
}

type worker struct {
	chain *clichain.Chain
	log   *slog.Logger

	mu     sync.Mutex
	out    *json.Encoder
	failed int // prompts without an answer
}

// work answers the prompts of in until its end or a signal. It reports whether all of them were answered.
func (w *worker) work(in io.Reader, grace time.Duration) (whole bool) {
	taking, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	calls, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	defer context.AfterFunc(taking, func() {
		stop() // the next signal ends the program immediately
		w.log.Info("reading no more prompts", "grace", grace)
		time.AfterFunc(grace, func() { cancel(errGrace) })
	})()
	prompts, ended := make(chan prompt), make(chan error, 1)
	go func() {
		defer close(prompts)
		ended <- read(taking, in, prompts)
	}()
	var working sync.WaitGroup
	for range workers {
		working.Go(func() { w.answerAll(taking, calls, prompts) })
	}
	working.Wait()
	select {
	case err := <-ended:
		if err != nil {
			w.log.Error("the input was not read completely", "error", err)
		}
		return err == nil && w.failed == 0
	default: // do not wait for a read of the input, which nothing can interrupt
		return false
	}
}

// read passes on the lines of in until the context ends.
func read(taking context.Context, in io.Reader, prompts chan<- prompt) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxLine)
	for n := 1; lines.Scan(); n++ {
		text := strings.TrimSpace(lines.Text())
		if text == "" {
			continue
		}
		select {
		case prompts <- prompt{n, text}:
		case <-taking.Done():
			return context.Cause(taking)
		}
	}
	return lines.Err()
}

// answerAll receives prompts and answers them.
func (w *worker) answerAll(taking, calls context.Context, prompts <-chan prompt) {
	for taking.Err() == nil {
		select {
		case p, ok := <-prompts:
			if !ok {
				return
			}
			w.answer(calls, p)
		case <-taking.Done():
			return
		}
	}
}

func (w *worker) answer(ctx context.Context, p prompt) {
	a := answer{Line: p.line}
	resp, err := w.chain.Complete(ctx, clichain.Prompt(p.text))
	if err != nil {
		a.Error = err.Error()
		if chain, ok := errors.AsType[*clichain.ChainError](err); ok {
			a.Reason = chain.Reason()
		}
	} else {
		a.Text, a.Backend = resp.Text, resp.Backend
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if writing := w.out.Encode(a); err != nil || writing != nil {
		w.failed++
	}
}
