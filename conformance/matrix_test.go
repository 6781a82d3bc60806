package conformance_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/conformance/home"
	"github.com/clichain/clichain/conformance/loopback"
	"github.com/clichain/clichain/conformance/netns"
	"github.com/clichain/clichain/live"
	"github.com/clichain/clichain/specs"
)

var (
	updateMatrix  = flag.Bool("update", false, "write the verdicts of TestMatrix to docs/reference/conformance.md")
	everyVersion  = flag.Bool("versions", false, "run all versions in TestMatrix, not only the newest of each CLI")
	matrixPattern = flag.String("cli", "", "run only this CLI in TestMatrix")
)

// scenario is a situation that can occur with any CLI, and its expected verdict. Its name is that of a scene.
type scenario struct {
	name  string
	means string // the description in docs/reference/conformance.md
	want  string // answer, or a Reason
	short bool   // also part of the short form
	alone bool   // the chain has no other backend
	check func(cli) error
}

const (
	answer = "answer"
	absent = "absent" // the CLI does not support it
)

// scenarios are the rows of the matrix.
func scenarios() []scenario {
	failing := func(name, means string, reason clichain.Reason) scenario {
		return scenario{name: name, means: means, want: string(reason)}
	}
	answering := func(name, means string, check func(cli) error) scenario {
		return scenario{name: name, means: means, want: answer, check: check}
	}
	ok := answering("ok", "a plain question, answered with one request", oneRequest)
	ok.short = true
	refused := failing("401", "the service rejects the credential", clichain.ReasonUnauthenticated)
	refused.short = true
	recovers := answering("500-then-ok", "the service fails once; the chain has no other backend", nil)
	recovers.alone = true
	return []scenario{
		ok,
		answering("thinking", "the model thinks before it answers", nil),
		answering("text-ok", "a plain question in text mode", nil),
		answering("tool-none", "a plain question; the model requests a shell", ran(false)),
		answering("tool-read", "access read: the agent reads a file", read),
		answering("tool-write", "access write: the agent writes a file", wrote),
		answering("tool-full", "access full: the agent runs a shell", nil),
		recovers,
		refused,
		failing("403", "the service denies permission", clichain.ReasonUnauthenticated),
		failing("404-model", "the service does not know the model", clichain.ReasonBadModel),
		failing("429", "the service is at its limit", clichain.ReasonRateLimited),
		failing("500", "the service fails", clichain.ReasonServerError),
		failing("503", "the service is overloaded", clichain.ReasonOverloaded),
		failing("context", "the prompt is too long", clichain.ReasonContextOverflow),
		failing("empty", "the model returns no text", clichain.ReasonEmpty),
		failing("hang", "the service never answers", clichain.ReasonTimeout),
		failing("loggedout", "the CLI is not logged in", clichain.ReasonUnauthenticated),
		failing("bad-session", "the session does not exist", clichain.ReasonBadSession),
		failing("bad-flag", "the CLI does not know a flag", clichain.ReasonUnsupported),
	}
}

// hangTimeout is the timeout of an attempt whose service never answers.
const hangTimeout = 20 * time.Second

// TestMatrix runs each scenario with each CLI, and compares the verdicts with docs/reference/conformance.md.
func TestMatrix(t *testing.T) {
	netns.Require(t)
	seen, written, today := newMatrix(), readMatrix(t), time.Now().UTC().Format(time.DateOnly)
	t.Run("cells", func(t *testing.T) {
		for _, install := range chosen(t) {
			for _, s := range scenarios() {
				if !s.short && !netns.Long() && !*updateMatrix {
					continue
				}
				t.Run(install.CLI+" "+install.Wanted(t)+" "+s.name, func(t *testing.T) {
					t.Parallel()
					install.Binary(t) // skips the test if it is missing
					c := cell{install.CLI, install.Version(t), s.name}
					verdict := s.verdict(t, install)
					if seen.add(c, verdict, today); !*updateMatrix {
						require.Equal(t, written.verdicts[c], verdict, "docs/reference/conformance.md differs; -update writes it")
					}
				})
			}
		}
	})
	if *updateMatrix && !t.Failed() {
		seen.addOlder(t, written)
		require.NoError(t, os.WriteFile(matrixFile, []byte(seen.page(scenarios())), 0o644))
	}
}

// TestMatrixIsComplete checks that the page has every scenario of every CLI and version that can be installed, and
// explains each unexpected verdict.
func TestMatrixIsComplete(t *testing.T) {
	written := readMatrix(t)
	text, err := os.ReadFile(matrixFile)
	require.NoError(t, err)
	require.Equal(t, written.page(scenarios()), string(text), "the texts of the page differ from the tests")
	clis := map[string]int{}
	for _, i := range home.Installs() {
		clis[i.CLI]++
		version := i.Wanted(t)
		for _, s := range scenarios() {
			verdict := written.verdicts[cell{i.CLI, version, s.name}]
			require.NotEmpty(t, verdict, "%s %s: %s is not on the page", i.CLI, version, s.name)
			if verdict != s.want {
				require.NotEmpty(t, otherwise[i.CLI][s.name], "%s %s: %s is %s, not %s; explain it", i.CLI, version, s.name, verdict, s.want)
			}
		}
	}
	require.GreaterOrEqual(t, len(clis), 10)
	for _, name := range home.Names() {
		require.GreaterOrEqual(t, clis[name], 2, name)
	}
	for name, why := range otherwise {
		require.Contains(t, clis, name)
		for s := range why {
			require.True(t, slices.ContainsFunc(scenarios(), func(known scenario) bool { return known.name == s }), "%s: %s", name, s)
		}
	}
}

// chosen returns the versions to run.
func chosen(t *testing.T) (list []home.Install) {
	before := map[string]bool{}
	for _, i := range home.Installs() {
		if (before[i.CLI] && !*everyVersion) || (*matrixPattern != "" && i.CLI != *matrixPattern) {
			continue
		}
		before[i.CLI] = true
		list = append(list, i)
	}
	require.NotEmpty(t, list)
	return list
}

// verdict runs the scenario and returns its verdict.
func (s scenario) verdict(t *testing.T, install home.Install) string {
	return s.verdictWith(t, install, clichain.Config{}, false)
}

// verdictWith is like verdict, with a configuration and with a warm process. Unless s.alone, the chain has another
// backend, so it ends a run that only retries.
func (s scenario) verdictWith(t *testing.T, install home.Install, cfg clichain.Config, isWarm bool) string {
	plays, ok := find(scenes(install.CLI), s.name)
	if !ok {
		return absent
	}
	spec, ok := specs.ByName(install.CLI)
	require.True(t, ok)
	if len(plays.extra) > 0 {
		spec.Args = append(spec.Args, clispec.ArgRow{Args: plays.extra})
	}
	cfg.Timeout, cfg.Output, cfg.Env = 2*minute, plays.output, plays.env
	if s.name == "hang" {
		cfg.Timeout = hangTimeout
	}
	c := startOf(t, install, spec, plays.state, cfg, loopback.InOrder(plays.replies...))
	c.home.Write(t, "work/notes.txt", "The sky is blue.\n")
	backends, stop := []clichain.Backend{c, spare}, func() {}
	if isWarm {
		var pool *live.Pool
		pool, backends[0] = warm(t, c, nil)
		stop = func() { pool.Close() }
	}
	if s.alone {
		backends = backends[:1]
	}
	chain := clichain.ChainOf(backends, &clichain.ChainConfig{NoCooldown: !s.alone})
	resp, err := chain.Complete(t.Context(), plays.question(c.home))
	stop()
	require.Empty(t, living(t, c.home), "processes that survive the call")
	switch {
	case err != nil:
		return string(lastReason(t, err))
	case resp.Backend == "spare":
		return string(resp.Attempts[0].Reason)
	case s.check == nil:
		return answer
	}
	if err := s.check(c); err != nil {
		return answer + ", but " + err.Error()
	}
	return answer
}

func find(list []scene, name string) (scene, bool) {
	i := slices.IndexFunc(list, func(s scene) bool { return s.name == name })
	if i < 0 {
		return scene{}, false
	}
	return list[i], true
}

func lastReason(t *testing.T, err error) clichain.Reason {
	t.Helper()
	var chain *clichain.ChainError
	require.ErrorAs(t, err, &chain)
	return chain.Reason()
}

func oneRequest(c cli) error {
	if n := len(c.server.Calls()); n != 1 {
		return fmt.Errorf("with %d requests", n)
	}
	return nil
}

func ran(want bool) func(cli) error {
	return func(c cli) error {
		if got := strings.Contains(results(c), "ran\n"); got != want {
			return fmt.Errorf("the shell ran: %t", got)
		}
		return nil
	}
}

func read(c cli) error {
	if !strings.Contains(results(c), "The sky is blue.") {
		return fmt.Errorf("the file was not read")
	}
	return nil
}

func wrote(c cli) error {
	if _, err := os.Stat(filepath.Join(c.home.Work, "out.txt")); err != nil {
		return fmt.Errorf("the file was not written")
	}
	return nil
}
