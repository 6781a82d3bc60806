package accept_test

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/internal/chaintest"
	"github.com/clichain/clichain/specs"
)

// shaped is a CLI with a flag for a schema.
func shaped() clichain.CliSpec {
	spec := specs.Codex()
	spec.Name = "shaped"
	spec.Args = append([]clispec.ArgRow{{Args: []string{"--schema={schema}"}, When: clispec.When{Set: []string{"schema"}}}}, spec.Args...)
	return spec
}

// inTurn returns a scenario with one script for each run; the last one repeats.
func inTurn(all ...[]clitest.Step) clitest.Scenario {
	last := len(all) - 1
	s := clitest.Scenario{Steps: all[last]}
	for _, steps := range all[:last] {
		s.Cases = append(s.Cases, clitest.Case{Once: true, Steps: steps})
	}
	return s
}

func says(text string) []clitest.Step {
	return []clitest.Step{chaintest.ReadStdin, chaintest.Stdout(chaintest.CodexAnswer(text))}
}

var (
	good     = says(`{"city":"Paris"}`)
	wrong    = says(`{"city":7}`)
	overload = []clitest.Step{chaintest.Stdout(`{"type":"turn.failed","error":{"message":"server overloaded"}}` + "\n"), clitest.Exit(1)}
	mustNot  = []clitest.Step{clitest.Exit(99)}
)

func TestStructuredAnswer(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"plain":         `{"city":"Paris"}`,
		"fenced":        "```json\n{\"city\":\"Paris\"}\n```",
		"with a banner": "Here it is:\n{\"city\":\"Paris\"}\n",
	} {
		t.Run(name, func(t *testing.T) {
			clitest.NoLeaks(t)
			resp, err := chaintest.Provider(t, shaped(), clichain.Config{}, inTurn(says(text), mustNot)).Complete(t.Context(), chaintest.AskCity())
			require.NoError(t, err)
			require.JSONEq(t, `{"city":"Paris"}`, resp.Text)
			require.Equal(t, byte('{'), resp.Text[0])
			require.Empty(t, resp.Attempts)
			require.Empty(t, resp.Flags)
		})
	}
}

// A code fence around a scalar value contains no other text, so that removing the fence leaves the answer.
func TestFencedValues(t *testing.T) {
	t.Parallel()
	for schema, want := range map[string]string{`{"type":"integer"}`: "7", `{"type":"string"}`: `"a {} b"`, `{"type":"boolean"}`: "true"} {
		t.Run(want, func(t *testing.T) {
			clitest.NoLeaks(t)
			req := clichain.Prompt("Which?")
			req.Schema = json.RawMessage(schema)
			fenced := says("```json\n" + want + "\n```")
			resp, err := chaintest.Provider(t, shaped(), clichain.Config{}, inTurn(fenced, mustNot)).Complete(t.Context(), req)
			require.NoError(t, err)
			require.Equal(t, want, resp.Text)
		})
	}
}

// The second schema needs a program that imports fullschema.
func TestBadSchemaStartsNothing(t *testing.T) {
	t.Parallel()
	for schema, says := range map[string]string{
		`{"type":"nonsense"}`: "is not a valid JSON Schema: at '/type': ",
		`{"contains":{}}`:     `at the top: the keyword "contains" needs the full checker: import _ "github.com/clichain/clichain/fullschema" in the program`,
	} {
		record := filepath.Join(t.TempDir(), "record.json")
		p := chaintest.Provider(t, shaped(), clichain.Config{}, chaintest.Play(clitest.Step{Record: record}))
		req := chaintest.AskCity()
		req.Schema = json.RawMessage(schema)
		_, err := p.Complete(t.Context(), req)
		_, _, errAs := clichain.CompleteAs[any](t.Context(), p, req)
		_, errCommand := p.Command(t.Context(), req)
		for _, err := range []error{err, errAs, errCommand, p.Check(t.Context(), req)} {
			be := chaintest.RequireReason(t, clichain.ReasonBadOption, err)
			require.Equal(t, "schema", be.Option)
			require.Equal(t, "shaped", be.Backend)
			require.Contains(t, be.Message, says)
		}
		require.NoFileExists(t, record)
	}
}

func TestRepair(t *testing.T) {
	t.Parallel()
	clitest.NoLeaks(t)
	record := filepath.Join(t.TempDir(), "record.json")
	second := []clitest.Step{{Record: record}, chaintest.Stdout(chaintest.CodexAnswer(`{"city":"Paris"}`))}
	req := chaintest.AskCity()
	room := make([]clichain.Message, 10)
	req.Messages = append(append(room[:0], clichain.Message{Role: clichain.RoleSystem, Content: "Be brief."}), req.Messages...)
	resp, err := chaintest.Provider(t, shaped(), clichain.Config{}, inTurn(wrong, second, mustNot)).Complete(t.Context(), req)
	require.NoError(t, err)
	require.Equal(t, `{"city":"Paris"}`, resp.Text)
	require.Equal(t, []call.Flag{call.FlagRepaired}, resp.Flags)
	require.Contains(t, resp.Warnings[len(resp.Warnings)-1], "corrected")
	require.Equal(t, int64(12), resp.Usage.InputTokens, "of the answering run alone")
	require.Len(t, resp.Attempts, 1)
	require.Equal(t, clichain.ReasonBadOutput, resp.Attempts[0].Reason)
	require.Equal(t, int64(12), resp.Attempts[0].Usage.InputTokens)
	require.False(t, resp.Attempts[0].Skipped)
	require.Len(t, req.Messages, 2, "the caller's request is not changed")
	require.Empty(t, room[2], "nor what lies behind it")

	got, err := clitest.ReadRecord(record)
	require.NoError(t, err)
	prompt := string(got.Stdin)
	for _, part := range []string{" user>\nWhich city?\n", " assistant>\n{\"city\":7}\n", " user>\n", "at '/city': got number, want string", "corrected JSON value"} {
		require.Contains(t, prompt, part)
		prompt = prompt[strings.Index(prompt, part):]
	}
	require.Contains(t, got.Args, "--schema="+chaintest.Cities)
}

// If a CLI has no flag for a schema, the prompt asks for it, both times.
func TestRepairWithoutAFlag(t *testing.T) {
	t.Parallel()
	clitest.NoLeaks(t)
	record := filepath.Join(t.TempDir(), "record.json")
	spec := clichain.CliSpec{Name: "mini", Binary: "mini"}
	p := chaintest.Provider(t, spec, clichain.Config{}, inTurn([]clitest.Step{chaintest.Stdout("Paris")}, []clitest.Step{{Record: record}, chaintest.Stdout(`{"city":"Paris"}`)}, mustNot))
	resp, err := p.Complete(t.Context(), chaintest.AskCity())
	require.NoError(t, err)
	require.Equal(t, `{"city":"Paris"}`, resp.Text)
	got, err := clitest.ReadRecord(record)
	require.NoError(t, err)
	prompt := got.Args[len(got.Args)-1]
	require.Regexp(t, "<(turn-[0-9a-f]{16}) assistant>\nParis\n</turn-[0-9a-f]{16}>\n\n<turn-[0-9a-f]{16} user>\nYour answer does not meet", prompt)
	require.Contains(t, prompt, chaintest.Cities)
}

func TestRepairThatFails(t *testing.T) {
	t.Parallel()
	clitest.NoLeaks(t)
	for name, test := range map[string]struct {
		runs    clitest.Scenario
		reason  clichain.Reason
		message string
		partial string
		earlier []clichain.Reason
	}{
		"invalid twice": {
			inTurn(wrong, says(`{"city":8}`), mustNot), clichain.ReasonBadOutput,
			"the answer does not match the schema: at '/city': got number, want string", `{"city":8}`, []clichain.Reason{clichain.ReasonBadOutput},
		},
		"no JSON, then none": {
			inTurn(says("Paris"), says("Paris!"), mustNot), clichain.ReasonBadOutput,
			"the answer does not match the schema: it is not a single JSON value: invalid character 'P' looking for beginning of value", "Paris!", []clichain.Reason{clichain.ReasonBadOutput},
		},
		"the repair itself fails": {
			inTurn(wrong, []clitest.Step{{Stderr: "Not logged in\n"}, clitest.Exit(1)}, mustNot), clichain.ReasonUnauthenticated,
			"Not logged in", "", []clichain.Reason{clichain.ReasonBadOutput},
		},
		"retried once, repaired once, and that is all": {
			inTurn(overload, wrong, overload, mustNot), clichain.ReasonOverloaded,
			"server overloaded", "", []clichain.Reason{clichain.ReasonOverloaded, clichain.ReasonBadOutput},
		},
		"repaired once, although retried": {
			inTurn(wrong, overload, wrong, mustNot), clichain.ReasonBadOutput,
			"the answer does not match the schema: at '/city': got number, want string", `{"city":7}`, []clichain.Reason{clichain.ReasonBadOutput, clichain.ReasonOverloaded},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := chaintest.Provider(t, shaped(), clichain.Config{}, test.runs).Complete(t.Context(), chaintest.AskCity())
			be := chaintest.RequireReason(t, test.reason, err)
			require.Equal(t, "shaped", be.Backend)
			require.Equal(t, test.message, be.Message)
			require.Equal(t, test.partial, be.Partial)
			var earlier []clichain.Reason
			for _, a := range be.Earlier {
				earlier = append(earlier, a.Reason)
				require.False(t, a.Skipped)
			}
			require.Equal(t, test.earlier, earlier)
		})
	}
}

// The retry after a transient failure and the repair of an answer are separate runs.
func TestRetryAndRepair(t *testing.T) {
	t.Parallel()
	clitest.NoLeaks(t)
	for name, scenario := range map[string]clitest.Scenario{
		"retry, then repair": inTurn(overload, wrong, good),
		"repair, then retry": inTurn(wrong, overload, good),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			resp, err := chaintest.Provider(t, shaped(), clichain.Config{}, scenario).Complete(t.Context(), chaintest.AskCity())
			require.NoError(t, err)
			require.Equal(t, `{"city":"Paris"}`, resp.Text)
			require.Len(t, resp.Attempts, 2)
			require.Contains(t, resp.Flags, call.FlagRepaired)
		})
	}
}

func TestNoRepairAfterSideEffects(t *testing.T) {
	t.Parallel()
	tool := chaintest.Stdout(`{"type":"item.started","item":{"id":"1","type":"command_execution","command":"touch x"}}` + "\n")
	for name, test := range map[string]struct {
		access clichain.Access
		effect bool
	}{
		"write access": {clichain.AccessWrite, true},
		"read access":  {clichain.AccessRead, false},
	} {
		t.Run(name, func(t *testing.T) {
			clitest.NoLeaks(t)
			p := chaintest.Provider(t, shaped(), clichain.Config{}, inTurn(append([]clitest.Step{tool}, wrong...), good))
			req := chaintest.AskCity()
			req.Access = test.access
			resp, err := p.Complete(t.Context(), req)
			if !test.effect {
				require.NoError(t, err)
				require.Equal(t, []call.Flag{call.FlagRepaired}, resp.Flags)
				return
			}
			be := chaintest.RequireReason(t, clichain.ReasonBadOutput, err)
			require.True(t, be.SideEffects)
			require.Empty(t, be.Earlier)
			next := chaintest.Provider(t, chaintest.Named(shaped(), "next"), clichain.Config{}, chaintest.Play(good...))
			_, err = clichain.ChainOf([]clichain.Backend{chaintest.Provider(t, shaped(), clichain.Config{}, inTurn(append([]clitest.Step{tool}, wrong...), good)), next}, nil).Complete(t.Context(), req)
			chaintest.RequireReason(t, clichain.ReasonBadOutput, err)
		})
	}
}

func TestNoRepairWithoutTime(t *testing.T) {
	t.Parallel()
	clitest.NoLeaks(t)
	chaintest.InTime(t, 7*time.Second, func(timeout time.Duration) bool {
		slow := append([]clitest.Step{{Sleep: timeout * 4 / 7}}, wrong...)
		_, err := chaintest.Provider(t, shaped(), clichain.Config{Timeout: timeout}, inTurn(slow, good)).Complete(t.Context(), chaintest.AskCity())
		be, ok := errors.AsType[*clichain.BackendError](err)
		require.True(t, ok, "the answer was repaired: %v", err)
		require.Empty(t, be.Earlier)
		return be.Reason == clichain.ReasonBadOutput
	})
}

func TestChainGoesOnAfterABadStructuredAnswer(t *testing.T) {
	t.Parallel()
	clitest.NoLeaks(t)
	second := shaped()
	second.Name = "second"
	chain := clichain.ChainOf([]clichain.Backend{
		chaintest.Provider(t, shaped(), clichain.Config{}, inTurn(wrong, wrong, mustNot)),
		chaintest.Provider(t, second, clichain.Config{}, chaintest.Play(good...)),
	}, nil)
	resp, err := chain.Complete(t.Context(), chaintest.AskCity())
	require.NoError(t, err)
	require.Equal(t, "second", resp.Backend)
	require.Equal(t, `{"city":"Paris"}`, resp.Text)
	require.Empty(t, resp.Flags)
	require.Len(t, resp.Attempts, 2)
}

func TestABadSchemaEndsAChain(t *testing.T) {
	t.Parallel()
	req := chaintest.AskCity()
	req.Schema = json.RawMessage(`{"$ref":"https://example.com/x"}`)
	_, err := clichain.ChainOf([]clichain.Backend{
		chaintest.Provider(t, shaped(), clichain.Config{}, chaintest.Play(mustNot...)), chaintest.Provider(t, chaintest.Named(shaped(), "next"), clichain.Config{}, chaintest.Play(good...)),
	}, nil).Complete(t.Context(), req)
	chaintest.RequireReason(t, clichain.ReasonBadOption, err)
	var chain *clichain.ChainError
	require.ErrorAs(t, err, &chain)
	require.Len(t, chain.Attempts, 1)
	require.False(t, chain.Tried())
}
