package accept_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/internal/chaintest"
	"github.com/clichain/clichain/internal/structured"
)

type place struct {
	City  string            `json:"city" jsonschema:"its English name"`
	Tags  []string          `json:"tags"`
	Names map[string]string `json:"names"`
	Mayor *string           `json:"mayor"`
	Since time.Time         `json:"since"`
	Note  string            `json:"note,omitempty"`
}

const paris = `{"city":"Paris","tags":["a"],"names":{"fr":"Paris"},"mayor":null,"since":"2026-01-02T03:04:05Z"}`

func TestCompleteAs(t *testing.T) {
	t.Parallel()
	clitest.NoLeaks(t)
	got, resp, err := clichain.CompleteAs[place](t.Context(), chaintest.Provider(t, shaped(), clichain.Config{}, inTurn(says(paris), mustNot)), clichain.Prompt("P"))
	require.NoError(t, err)
	require.Equal(t, paris, resp.Text)
	want := place{City: "Paris", Tags: []string{"a"}, Names: map[string]string{"fr": "Paris"}, Since: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	require.Equal(t, want, got)
}

func TestCompleteAsOtherTypes(t *testing.T) {
	t.Parallel()
	clitest.NoLeaks(t)
	ask := func(text string) clichain.Backend {
		return chaintest.Provider(t, shaped(), clichain.Config{}, inTurn(says(text), mustNot))
	}
	list, _, err := clichain.CompleteAs[[]int](t.Context(), ask(`[1,2]`), clichain.Prompt("P"))
	require.NoError(t, err)
	require.Equal(t, []int{1, 2}, list)
	table, _, err := clichain.CompleteAs[map[string]bool](t.Context(), ask(`{"a":true}`), clichain.Prompt("P"))
	require.NoError(t, err)
	require.Equal(t, map[string]bool{"a": true}, table)
	pointer, _, err := clichain.CompleteAs[*place](t.Context(), ask(paris), clichain.Prompt("P"))
	require.NoError(t, err)
	require.Equal(t, "Paris", pointer.City)
	word, _, err := clichain.CompleteAs[string](t.Context(), ask(`"hi"`), clichain.Prompt("P"))
	require.NoError(t, err)
	require.Equal(t, "hi", word)
	whatever, _, err := clichain.CompleteAs[any](t.Context(), ask(`[1]`), clichain.Prompt("P"))
	require.NoError(t, err)
	require.Equal(t, []any{1.0}, whatever)
}

func TestCompleteAsIsRepairedByItsSchema(t *testing.T) {
	t.Parallel()
	clitest.NoLeaks(t)
	late := `{"city":"Paris","tags":[],"names":{},"mayor":null,"since":"last year"}`
	got, resp, err := clichain.CompleteAs[place](t.Context(), chaintest.Provider(t, shaped(), clichain.Config{}, inTurn(says(late), says(paris), mustNot)), clichain.Prompt("P"))
	require.NoError(t, err)
	require.Equal(t, []call.Flag{call.FlagRepaired}, resp.Flags)
	require.Equal(t, "Paris", got.City)
	require.Contains(t, resp.Attempts[0].Err.Error(), "not valid date-time")
}

func TestCompleteAsWithAnEnum(t *testing.T) {
	t.Parallel()
	clitest.NoLeaks(t)
	type issue struct {
		Kind string `json:"kind" jsonschema:"enum=bug,enum=feature,description=of the issue"`
	}
	got, resp, err := clichain.CompleteAs[issue](t.Context(),
		chaintest.Provider(t, shaped(), clichain.Config{}, inTurn(says(`{"kind":"banana"}`), says(`{"kind":"bug"}`), mustNot)), clichain.Prompt("P"))
	require.NoError(t, err)
	require.Equal(t, "bug", got.Kind)
	require.Equal(t, []call.Flag{call.FlagRepaired}, resp.Flags)
	require.ErrorContains(t, resp.Attempts[0].Err, `value must be one of 'bug', 'feature'`)
}

func TestCompleteAsErrors(t *testing.T) {
	t.Parallel()
	t.Run("error of the backend", func(t *testing.T) {
		_, resp, err := clichain.CompleteAs[place](t.Context(), chaintest.Provider(t, shaped(), clichain.Config{}, inTurn(wrong, wrong, mustNot)), clichain.Prompt("P"))
		chaintest.RequireReason(t, clichain.ReasonBadOutput, err)
		require.Nil(t, resp)
	})
	t.Run("error of a chain", func(t *testing.T) {
		_, _, err := clichain.CompleteAs[place](t.Context(), clichain.ChainOf(nil, nil), clichain.Prompt("P"))
		var chain *clichain.ChainError
		require.ErrorAs(t, err, &chain)
	})
	t.Run("schema that differs from the schema of the type", func(t *testing.T) {
		req := clichain.Prompt("P")
		req.Schema = json.RawMessage(`{}`)
		got, resp, err := clichain.CompleteAs[place](t.Context(), chaintest.Provider(t, shaped(), clichain.Config{}, inTurn(says(`{"city":"Paris","tags":5}`), mustNot)), req)
		be := chaintest.RequireReason(t, clichain.ReasonBadOutput, err)
		require.Contains(t, be.Message, "accept_test.place")
		require.Equal(t, `{"city":"Paris","tags":5}`, be.Partial)
		require.Equal(t, int64(12), be.Usage.InputTokens)
		require.Nil(t, resp)
		require.Zero(t, got)
	})
}

func TestStructuredPage(t *testing.T) {
	t.Parallel()
	page := chaintest.Read(t, chaintest.RepoFile(t, "docs/how-to/structured.md"))
	snippets := chaintest.Blocks(page, "go")
	require.Len(t, snippets, 1)
	require.Contains(t, chaintest.Read(t, chaintest.RepoFile(t, "examplepages_test.go")), "\t"+strings.ReplaceAll(strings.TrimSpace(snippets[0]), "\n", "\n\t"))
	// A struct that follows the page is valid in the strict mode of the API.
	type city struct {
		Name  string
		River *string
		Parts []struct{ Name string }
	}
	schema, err := structured.OfType(reflect.TypeFor[city]())
	require.Nil(t, err)
	require.JSONEq(t, `{"type":"object","properties":{"Name":{"type":"string"},"River":{"type":["null","string"]},"Parts":{"type":["null","array"],
		"items":{"type":"object","properties":{"Name":{"type":"string"}},"required":["Name"],"additionalProperties":false}}},
		"required":["Name","River","Parts"],"additionalProperties":false}`, string(schema))
}

func TestCompleteAsOfATypeWithoutASchema(t *testing.T) {
	t.Parallel()
	p := chaintest.Provider(t, shaped(), clichain.Config{}, chaintest.Play(mustNot...))
	_, _, err := clichain.CompleteAs[chan int](t.Context(), p, clichain.Prompt("P"))
	chaintest.RequireReason(t, clichain.ReasonBadOption, err)
}
