package provider

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/internal/backend"
	"github.com/clichain/clichain/internal/chainview"
	"github.com/clichain/clichain/internal/compose"
	"github.com/clichain/clichain/internal/judge"
	"github.com/clichain/clichain/internal/norace"
	"github.com/clichain/clichain/internal/proc"
	"github.com/clichain/clichain/internal/recording"
	"github.com/clichain/clichain/specs"
)

// recorded is a run of a real CLI: its bytes, and its exit.
type recorded struct {
	provider       *Provider
	output         clispec.OutputMode
	stdout, stderr string
	exit           int
	timedOut       bool
	ordered        bool // stderr came before stdout
}

// recordedAt is the approximate time of the recordings.
var recordedAt = time.Date(2026, 11, 21, 0, 20, 0, 0, time.UTC)

// newProvider returns a Provider with the default settings.
func newProvider(spec clispec.Spec) *Provider {
	p := new(Provider)
	p.Init(spec, backend.Settings{
		Timeout: 25 * time.Second, RetryPatience: 3 * time.Second, MaxOutput: 1 << 20, Logger: slog.New(slog.DiscardHandler),
	})
	return p
}

// providersOf returns backends of the built-in specs by name. They are immutable and compiled once.
func providersOf() map[string]*Provider {
	all := map[string]*Provider{}
	for _, spec := range specs.Every() {
		all[spec.Name] = newProvider(spec)
	}
	return all
}

func readRecorded(t *testing.T, providers map[string]*Provider, path string) recorded {
	t.Helper()
	run, err := recording.Read(path)
	require.NoError(t, err)
	provider, ok := providers[filepath.Base(filepath.Dir(path))]
	require.True(t, ok)
	rec := recorded{
		provider: provider, output: run.Output, stdout: string(run.Stdout), stderr: string(run.Stderr), exit: -1, timedOut: run.TimedOut,
	}
	if run.ExitCode != nil {
		rec.exit = *run.ExitCode
	}
	return rec
}

// schedule is the timing of a run, as opposed to its bytes.
type schedule struct {
	random  *rand.Rand // nil: all bytes arrive at once
	another bool       // a further backend could answer, so the run may be stopped
	noticed bool       // the decision to stop the run came before its own end was seen
}

// observed is the part of a verdict that a caller can see, except how the run ended.
type observed struct {
	Reason     call.Reason
	Text       string
	RetryAfter time.Time
}

// replay plays a run to the end of its bytes through the code that reads and stops a live run, with its own
// clock.
func (rec recorded) replay(t *testing.T, s schedule) (o observed) {
	t.Helper()
	p := rec.provider
	p.Compile()
	synctest.Test(t, func(t *testing.T) {
		view := chainview.View{HasFallback: func() bool { return s.another }, CanReset: true}
		ctx, stop := context.WithCancelCause(chainview.With(t.Context(), view))
		defer stop(nil)
		plan := &plan{Invocation: &compose.Invocation{Call: &compose.Call{Output: rec.output}}}
		r := p.newRun(ctx, plan, stop, func(call.Event) {})
		r.reading.Now = func() time.Time { return recordedAt }
		stdout, stderr := r.reading.Streams()
		var streams sync.WaitGroup
		apart := s.apart()
		streams.Go(func() { apart.play(stderr, rec.stderr) })
		if rec.ordered {
			streams.Wait()
		}
		streams.Go(func() { s.play(stdout, rec.stdout) })
		streams.Wait()
		r.stopTimers()
		result := proc.Result{ExitCode: rec.exit, TreeClean: true}
		result.Stderr.Head, result.Stderr.Total = []byte(rec.stderr), int64(len(rec.stderr))
		if s.noticed || rec.timedOut {
			result.Cause = context.Cause(ctx)
		}
		if rec.timedOut {
			result.Cause = cmp.Or(result.Cause, error(&judge.Stop{Reason: call.ReasonTimeout, After: time.Minute}))
		}
		v := p.Judge().Verdict(r.reading.Evidence(result, 0))
		o = observed{Text: v.Text}
		if v.Err != nil {
			o.Reason, o.RetryAfter = v.Err.Reason, v.Err.RetryAfter
		}
	})
	return o
}

// apart returns another schedule of the same kind, for concurrent use.
func (s schedule) apart() schedule {
	if s.random != nil {
		s.random = rand.New(rand.NewPCG(s.random.Uint64(), 3))
	}
	return s
}

// play writes a stream in pieces, between which any time may pass.
func (s schedule) play(w io.WriteCloser, text string) {
	for text != "" {
		n := len(text)
		if s.random != nil {
			n = 1 + s.random.IntN(min(n, 1<<s.random.IntN(12)))
			if s.random.IntN(8) == 0 {
				time.Sleep(time.Duration(s.random.Int64N(int64(2 * time.Second))))
			}
		}
		_, _ = w.Write([]byte(text[:n]))
		text = text[n:]
	}
	_ = w.Close()
}

// crashed returns the run up to one of its lines, as if the run had ended on its own after that line. A retry
// on stderr and its result on stdout are seconds apart; nothing else shows which came first.
func (rec recorded) crashed(random *rand.Rand) recorded {
	lines := strings.SplitAfter(rec.stdout, "\n")
	rec.stdout, rec.exit, rec.timedOut = strings.Join(lines[:random.IntN(len(lines))], ""), 1, false
	rec.ordered = true
	return rec
}

// requireOneVerdict replays a run many times, and returns its verdict.
func (rec recorded) requireOneVerdict(t *testing.T, seeds uint64) observed {
	t.Helper()
	want := rec.replay(t, schedule{})
	for seed := range seeds {
		for _, another := range []bool{false, true} {
			for _, noticed := range []bool{false, true} {
				s := schedule{rand.New(rand.NewPCG(seed, 1)), another, noticed}
				require.Equal(t, want, rec.replay(t, s), "seed %d, another backend: %v, the decision first: %v", seed, another, noticed)
			}
		}
	}
	return want
}

// often returns how often a random test is repeated: the given number of times in the long form of the tests,
// else once.
func often(times uint64) uint64 {
	if os.Getenv("CLICHAIN_CONFORMANCE") != "long" {
		return 1
	}
	return times
}

// Each recorded run has one verdict, however its bytes arrive, whether or not it was stopped for another
// backend, and whether the stop or its own end was seen first. The same applies to a run that crashed before
// its end.
func TestOneVerdict(t *testing.T) {
	var paths []string
	for _, kind := range []string{"recordings", "transcripts"} {
		found, err := filepath.Glob(filepath.Join("../reading/testdata", kind, "*", "*.json"))
		require.NoError(t, err)
		require.NotEmpty(t, found)
		paths = append(paths, found...)
	}
	providers := providersOf()
	for i, path := range paths {
		if i%norace.Times(1, 4) != 0 {
			continue // .ci/run replays all of them without the race detector
		}
		name := filepath.Base(filepath.Dir(path)) + "/" + strings.TrimSuffix(filepath.Base(path), ".json")
		t.Run(name, func(t *testing.T) {
			rec := readRecorded(t, providers, path)
			rec.requireOneVerdict(t, often(4))
			random := rand.New(rand.NewPCG(uint64(i), 2))
			for range often(4) {
				rec.crashed(random).requireOneVerdict(t, often(2))
			}
		})
	}
}

// The failure that a CLI reported before its end is the reason, with the retry time that it reported, even if
// the CLI crashed.
func TestEvidenceBeforeTheEnd(t *testing.T) {
	const resets = 1795299990
	limit := fmt.Sprintf(`{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":%d}}`+"\n", resets)
	retry := func(status int, code string) string {
		return fmt.Sprintf(`{"type":"system","subtype":"api_retry","attempt":1,"retry_delay_ms":2000,"error_status":%d,"error":%q}`+"\n", status, code)
	}
	failed := func(text string) string {
		return fmt.Sprintf(`{"type":"result","is_error":true,"result":%q}`+"\n", text)
	}
	text := `{"type":"assistant","message":{"content":[{"type":"text","text":"so far"}]}}` + "\n"
	codex := `{"type":"error","message":"Reconnecting... 1/5 (exceeded retry limit, last status: 429 Too Many Requests)"}` + "\n"
	reset := time.Unix(resets, 0).UTC()
	for name, test := range map[string]struct {
		spec   clispec.Spec
		stdout string
		stderr string
		want   observed
	}{
		"limit":                        {specs.Claude(), limit, "", observed{call.ReasonUsageLimit, "", reset}},
		"limit, other text":            {specs.Claude(), limit, "fetch failed\n", observed{call.ReasonUsageLimit, "", reset}},
		"limit, result":                {specs.Claude(), limit + failed("You've hit your limit"), "", observed{call.ReasonUsageLimit, "", reset}},
		"limit, unknown result":        {specs.Claude(), limit + failed("something odd"), "", observed{call.ReasonUsageLimit, "", reset}},
		"limit, broken connection":     {specs.Claude(), limit + failed("Connection error: socket hang up"), "", observed{call.ReasonUsageLimit, "", reset}},
		"limit with recovery":          {specs.Claude(), limit + text, "", observed{Reason: call.ReasonExit}},
		"refused login":                {specs.Claude(), retry(401, "authentication_failed"), "", observed{Reason: call.ReasonUnauthenticated}},
		"retry without a reason":       {specs.Claude(), retry(0, ""), "", observed{Reason: call.ReasonServerError}},
		"retry, another failure":       {specs.Claude(), retry(529, "overloaded") + failed("API Error: 401"), "", observed{Reason: call.ReasonUnauthenticated}},
		"codex, limit":                 {specs.Codex(), codex, "", observed{Reason: call.ReasonRateLimited}},
		"gemini, limit":                {specs.Gemini(), "", "Attempt 1 failed with status 429. Retrying with backoff...\n", observed{Reason: call.ReasonRateLimited}},
		"gemini, failure after retry":  {specs.Gemini(), "", "Attempt 1 failed with status 503. Retrying with backoff...\n    at fetch\nPlease set an Auth method\n", observed{Reason: call.ReasonUnauthenticated}},
		"gemini, failure before retry": {specs.Gemini(), "", "Please set an Auth method\nAttempt 1 failed with status 429. Retrying with backoff...\n", observed{Reason: call.ReasonRateLimited}},
	} {
		t.Run(name, func(t *testing.T) {
			rec := recorded{provider: newProvider(test.spec), output: clispec.OutputStream, stdout: test.stdout, stderr: test.stderr, exit: 1}
			require.Equal(t, test.want, rec.requireOneVerdict(t, 4))
		})
	}
}
