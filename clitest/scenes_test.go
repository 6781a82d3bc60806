package clitest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/internal/recording"
	"github.com/clichain/clichain/specs"
)

// lumen is a CLI without a built-in spec that prints events. mini is a CLI that prints only its answer.
func lumen(t *testing.T) clispec.Spec {
	t.Helper()
	page, err := os.ReadFile("../docs/how-to/write-a-spec.md")
	require.NoError(t, err)
	_, rest, _ := strings.Cut(string(page), "## A complete example")
	_, rest, _ = strings.Cut(rest, "```json\n")
	text, _, _ := strings.Cut(rest, "```")
	list, err := specs.Load(strings.NewReader(text))
	require.NoError(t, err)
	return list[0]
}

func mini() clispec.Spec {
	return clispec.Spec{Name: "mini", Binary: "mini", Transports: []clispec.Transport{clispec.TransportStdin}, Args: []clispec.ArgRow{{Args: []string{"-p"}}}}
}

func ask(t *testing.T, spec clispec.Spec, s Scenario) (*clichain.Response, *clichain.BackendError) {
	t.Helper()
	resp, err := clichain.NewProvider(spec, &clichain.Config{Binary: Fake(t, spec.Binary, s), MaxOutput: 1 << 20}).Complete(t.Context(), clichain.Prompt("hi"))
	be, _ := err.(*clichain.BackendError)
	require.True(t, err == nil || be != nil)
	return resp, be
}

func requireReason(t *testing.T, want clichain.Reason, err *clichain.BackendError) {
	t.Helper()
	require.NotNil(t, err)
	require.Equal(t, want, err.Reason, "%v\n%s", err, err.Stderr)
}

// The library recognizes each scenario with every CLI.
func TestScenarios(t *testing.T) {
	t.Parallel()
	NoLeaks(t) // registered first, so that it counts after all subtests have ended
	const text = "Forty \"two\" 中\nand no more"
	for _, spec := range append(specs.Every(), lumen(t), mini()) {
		t.Run(spec.Name, func(t *testing.T) {
			t.Parallel() // they wait more than they compute
			structured := spec.OutputModes()[0] != clispec.OutputText
			resp, err := ask(t, spec, Answer(spec, text))
			require.Nil(t, err)
			require.Equal(t, text, resp.Text)

			_, err = ask(t, spec, LoggedOut(spec))
			requireReason(t, clichain.ReasonUnauthenticated, err)

			for _, wait := range []time.Duration{100 * time.Minute, 60 * time.Hour} {
				end := time.Now().Add(wait)
				_, err = ask(t, spec, LimitUntil(spec, end))
				requireReason(t, clichain.ReasonUsageLimit, err)
				require.WithinDuration(t, end, err.RetryAfter, 2*time.Minute)
			}

			resp, err = ask(t, spec, OverloadedThenOK(spec, text))
			require.Nil(t, err)
			require.Equal(t, text, resp.Text)
			require.Len(t, resp.Attempts, 1)
			require.Equal(t, clichain.ReasonOverloaded, resp.Attempts[0].Reason)

			_, err = ask(t, spec, ExitZeroWithError(spec, "429 Too Many Requests"))
			require.NotNil(t, err)
			if structured {
				requireReason(t, clichain.ReasonRateLimited, err)
			}

			_, err = ask(t, spec, Truncated(spec, text))
			requireReason(t, clichain.ReasonKilled, err)

			s := Grandchild(spec, text)
			path := Fake(t, spec.Binary, s)
			resp, failed := clichain.NewProvider(spec, &clichain.Config{Binary: path}).Complete(t.Context(), clichain.Prompt("hi"))
			require.NoError(t, failed)
			require.Equal(t, text, resp.Text)
			require.Empty(t, Survivors(path))

			if structured {
				resp, err = ask(t, spec, Linger(spec, text))
				require.Nil(t, err)
				require.Equal(t, text, resp.Text)
			}
			_, err = ask(t, spec, Garbage())
			requireReason(t, clichain.ReasonExit, err)
			_, err = ask(t, spec, Flood(2<<20))
			requireReason(t, clichain.ReasonOutputLimit, err)
		})
	}
}

func TestHang(t *testing.T) {
	t.Parallel()
	NoLeaks(t)
	spec := mini()
	p := clichain.NewProvider(spec, &clichain.Config{Binary: Fake(t, "mini", Hang()), Timeout: 200 * time.Millisecond})
	_, err := p.Complete(t.Context(), clichain.Prompt("hi"))
	require.ErrorIs(t, err, clichain.ErrTimeout)
}

// The scenarios of the built-in specs are the recorded ones, as long as the specs recognize them.
func TestScenariosMatchRecordings(t *testing.T) {
	t.Parallel()
	prints := func(s Scenario) (all string) {
		for _, c := range append(s.Cases, Case{Steps: s.Steps}) {
			for _, step := range c.Steps {
				all += step.Stdout + step.Stderr
			}
		}
		return all
	}
	end := time.Now().Add(time.Hour)
	for name := range kept {
		cli, scene, _ := strings.Cut(name, "/")
		spec, ok := specs.ByName(cli)
		require.True(t, ok)
		said := prints(map[string]Scenario{
			"answer": Answer(spec, "42"), "logged_out": LoggedOut(spec), "overloaded": OverloadedThenOK(spec, "42"), "limit": LimitUntil(spec, end),
		}[scene])
		run, err := recording.Read(filepath.Join("recorded", name+".json"))
		require.NoError(t, err)
		first, _, _ := strings.Cut(string(run.Stdout+run.Stderr), "\n")
		require.Contains(t, said, first, name)
		require.NotContains(t, said, "{{", name)
	}
	spec := specs.Claude()
	require.Contains(t, prints(LimitUntil(spec, end)), fmt.Sprintf(`"resetsAt":%d`, end.Unix()))
	spec.Events = append([]clispec.EventRule{{Match: map[string]string{"type": "result"}, Kind: clichain.EventStatus, Last: true}}, spec.Events...)
	spec.Events = append(spec.Events, clispec.EventRule{Match: map[string]string{"type": "answer"}, Kind: clichain.EventResult, Terminal: true, Set: map[string]string{"text": "text"}})
	require.NotContains(t, prints(Answer(spec, "42")), `"claude_code_version"`, "these rules accept no recorded result")
}

// A fake without a scenario prints the reason.
func TestScenarioOfUnsatisfiableRules(t *testing.T) {
	t.Parallel()
	wrong := mini()
	wrong.Transports = []clispec.Transport{"stdio"}
	odd := mini()
	odd.Outputs = []clispec.OutputMode{clispec.OutputStream}
	odd.Events = []clispec.EventRule{{Match: map[string]string{"type": "end"}, Kind: clichain.EventResult, Terminal: true, Set: map[string]string{"text": "a|@keys|0"}}}
	for says, spec := range map[string]clispec.Spec{"transports[0]": wrong, "no event rules recognize": odd} {
		for _, s := range []Scenario{Answer(spec, "42"), Linger(spec, "42"), Truncated(spec, "42"), OverloadedThenOK(spec, "42")} {
			_, err := ask(t, mini(), Scenario{Steps: s.Steps})
			require.NotNil(t, err)
			require.Equal(t, 70, err.ExitCode)
			require.Contains(t, err.Stderr, says)
		}
	}
}

func TestReplay(t *testing.T) {
	t.Parallel()
	const dir = "../internal/reading/testdata/recordings/"
	_, err := ask(t, specs.Codex(), Recorded(t, dir+"codex/usage-limit.json"))
	requireReason(t, clichain.ReasonUsageLimit, err)
	resp, err := ask(t, specs.Gemini(), Recorded(t, dir+"gemini/ok.json"))
	require.Nil(t, err)
	require.Equal(t, "Bonjour 中文 😀 done", resp.Text)
	hung := Recorded(t, dir+"gemini/503.json")
	require.True(t, hung.Steps[len(hung.Steps)-1].Hang)

	path := filepath.Join(t.TempDir(), "run.json")
	failed := &failures{TB: t}
	failed.run(func() { Recorded(failed, path) })
	require.Contains(t, failed.said, path)
	require.NoError(t, os.WriteFile(path, []byte(`{"stdout": ["a"]}`), 0o600))
	failed.run(func() { Recorded(failed, path) })
	require.Contains(t, failed.said, "set either exit_code or timed_out")
}

// failures is a TB that records errors instead of failing the test.
type failures struct {
	TB
	said string
}

type fatal struct{}

func (f *failures) Fatalf(format string, args ...any) {
	f.Errorf(format, args...)
	panic(fatal{})
}

func (f *failures) run(test func()) {
	defer func() {
		if r := recover(); r != (fatal{}) {
			panic(r)
		}
	}()
	test()
}

func (f *failures) Errorf(format string, args ...any) { f.said = fmt.Sprintf(format, args...) }
