package repo_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/clitest/fake"
	"github.com/clichain/clichain/internal/chaintest"
	"github.com/clichain/clichain/specs"
)

// section returns the part of a page from a heading to the next heading.
func section(t *testing.T, page, heading string) string {
	t.Helper()
	_, text, ok := strings.Cut(page, "\n"+heading+"\n")
	require.True(t, ok, "no heading %q", heading)
	text, _, _ = strings.Cut(text, "\n#")
	return text
}

var code = regexp.MustCompile("^`([^`]+)`")

// table is the rows of the first table of a text, by the code in their first
// column. The other columns are plain text.
func table(t *testing.T, text string) map[string][]string {
	t.Helper()
	rows := map[string][]string{}
	for line := range strings.Lines(text[max(0, strings.Index(text, "\n|")):]) {
		cells := strings.Split(strings.Trim(line, "|\n"), " | ")
		if name := code.FindStringSubmatch(strings.TrimSpace(cells[0])); name != nil {
			require.NotContains(t, rows, name[1])
			for i := range cells {
				cells[i] = strings.TrimSpace(cells[i])
			}
			rows[name[1]] = cells[1:]
		} else if len(rows) > 0 {
			break
		}
	}
	require.NotEmpty(t, rows)
	return rows
}

func names(rows map[string][]string) []string { return slices.Sorted(maps.Keys(rows)) }

// parrot is a CLI that fails with a given message.
func parrot(t *testing.T) *clichain.Provider {
	t.Helper()
	spec := clichain.CliSpec{Name: "parrot", Binary: "parrot", Transports: []clispec.Transport{clispec.TransportStdin}, Args: []clispec.ArgRow{{Args: []string{"-p"}}}}
	for _, reason := range chaintest.PolicyReasons() {
		spec.Lines = append(spec.Lines, clispec.LineRule{Pattern: fmt.Sprintf(`(?m)^fail with %s$`, reason), Reason: reason})
	}
	return chaintest.Provider(t, spec, clichain.Config{}, chaintest.Play(chaintest.ReadStdin, clitest.Step{Echo: true}, clitest.Exit(1)))
}

// docs/reference/errors.md says of each Reason what the library does.
func TestErrorsPage(t *testing.T) {
	chaintest.SuppressNothing(t)
	page := chaintest.Read(t, "docs/reference/errors.md")
	rows := table(t, section(t, page, "## The reasons"))
	p, says := parrot(t), map[bool]string{true: "yes", false: "no"}
	var reasons []string
	for _, reason := range call.Reasons() {
		reasons = append(reasons, string(reason))
		t.Run(string(reason), func(t *testing.T) {
			t.Parallel()
			row := rows[string(reason)]
			require.Len(t, row, 6, "meaning, evidence, again, next, cooldown, kind")
			_, err := p.Complete(t.Context(), clichain.Prompt("fail with "+string(reason)))
			be := chaintest.RequireReason(t, reason, err)
			require.Equal(t, says[len(be.Earlier) == 1], row[2], "the same backend again")
			next := &chaintest.Backend{ID: "next"}
			_, err = chaintest.ChainOf(chaintest.Failing("a", reason), next).Complete(t.Context(), clichain.Prompt("hi"))
			require.Equal(t, says[err == nil], row[3], "the next backend")
			require.Equal(t, row[4], chaintest.CooldownText(chaintest.CooldownsAfter(t, clichain.ChainConfig{}, reason)), "the rest")
			require.Contains(t, []string{"skip", "failure", "both"}, row[5])
		})
	}
	require.Equal(t, slices.Sorted(slices.Values(reasons)), names(rows))
}

func TestErrorsPageSnippetIsCompiled(t *testing.T) {
	snippets := chaintest.Blocks(chaintest.Read(t, "docs/reference/errors.md"), "go")
	require.Len(t, snippets, 1)
	require.Contains(t, chaintest.Read(t, "examplepages_test.go"), snippets[0])
}

// listed is what Validate says there is, when a spec names something else.
func listed(t *testing.T, spec clichain.CliSpec, path string) []string {
	t.Helper()
	spec.Name, spec.Binary = "x", "x"
	mistake, ok := errors.AsType[*clispec.Error](spec.Validate())
	require.True(t, ok)
	require.Equal(t, path, mistake.Path)
	_, list, ok := strings.Cut(mistake.Problem, "use one of ")
	require.True(t, ok, mistake.Problem)
	list, _, _ = strings.Cut(list, ", and ")
	words := strings.FieldsFunc(list, func(r rune) bool { return strings.ContainsRune(`,[]" `, r) })
	return slices.Sorted(slices.Values(words))
}

// keys are the JSON keys of a type and of all its parts.
func keys(of reflect.Type) (found []string) {
	switch of.Kind() {
	case reflect.Slice, reflect.Map:
		return keys(of.Elem())
	case reflect.Struct:
		for field := range of.Fields() {
			key, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			found = append(append(found, key), keys(field.Type)...)
		}
	}
	return found
}

// docs/reference/specs.md names all there is in the language, and nothing else.
func TestSpecsPage(t *testing.T) {
	page := chaintest.Read(t, "docs/reference/specs.md")
	fields := listed(t, clichain.CliSpec{Args: []clispec.ArgRow{{Args: []string{"{nosuch}"}}}}, "args[0].args[0]")
	require.Equal(t, fields, names(table(t, section(t, page, "## Request fields"))))
	setters := listed(t, clichain.CliSpec{Events: []clispec.EventRule{{Match: map[string]string{"a": "a"}, Kind: clichain.EventText, Set: map[string]string{"nosuch": "a"}}}}, "events[0].set")
	require.Equal(t, setters, names(table(t, section(t, page, "### Event fields"))))
	require.Equal(t, chaintest.EventKinds(t), names(table(t, section(t, page, "### Event kinds"))))
	groups := listed(t, clichain.CliSpec{Lines: []clispec.LineRule{{Pattern: "(?P<nosuch>a)", Reason: clichain.ReasonExit}}}, "lines[0].pattern")
	lines := section(t, page, "## Line rules")
	require.Equal(t, groups, names(table(t, lines[strings.Index(lines, "| Group |"):])))

	examples := chaintest.Blocks(page, "json")
	all := strings.Join(examples, "\n")
	for _, key := range keys(reflect.TypeFor[clichain.CliSpec]()) {
		require.Contains(t, all, strconv.Quote(key)+":", "no example has it")
	}
	for _, example := range examples {
		spec := map[string]any{"name": "x", "binary": "x", "events": []any{map[string]any{"match": map[string]string{"a": "a"}, "kind": "result", "terminal": true}}}
		require.NoError(t, json.Unmarshal([]byte(example), &spec), example)
		data, err := json.Marshal(spec)
		require.NoError(t, err)
		_, err = specs.Load(strings.NewReader(string(data)))
		require.NoError(t, err, example)
	}
}

// The page's two instances are two backends, with homes below that of the user.
func TestInstancesPage(t *testing.T) {
	text := section(t, chaintest.Read(t, "docs/reference/specs.md"), "## Named instances")
	home, _ := chaintest.FreshMachine(t, chaintest.Play(chaintest.Stdout("never")))
	chaintest.SuppressNothing(t)
	list, err := specs.Load(strings.NewReader(chaintest.Blocks(text, "yaml")[0]))
	require.NoError(t, err)
	require.Len(t, list, 2)
	for i, name := range []string{"work", "personal"} {
		require.Equal(t, "claude-"+name, list[i].Name)
		environ := clichain.NewProvider(list[i], nil).Environ()
		require.Equal(t, filepath.Join(home, ".claude-"+name), environ["CLAUDE_CONFIG_DIR"])
	}
	for _, variable := range regexp.MustCompile("`([A-Z_]+)` for").FindAllStringSubmatch(text, -1) {
		require.Contains(t, fmt.Sprint(specs.Every()), "${"+variable[1]+":-", "which no login depends on")
	}
}

func TestSpecsPageExample(t *testing.T) {
	chaintest.SuppressNothing(t)
	text := section(t, chaintest.Read(t, "docs/how-to/write-a-spec.md"), "## A complete example")
	list, err := specs.Load(strings.NewReader(chaintest.Blocks(text, "json")[0]))
	require.NoError(t, err)
	require.Len(t, list, 1)
	prints := chaintest.Blocks(text, "text")
	require.Len(t, prints, 2)
	run := func(t *testing.T, prints string) (*clichain.Response, fake.Record, error) {
		record := filepath.Join(t.TempDir(), "record")
		p := chaintest.Provider(t, list[0], clichain.Config{}, chaintest.Play(clitest.Step{Record: record}, chaintest.Stdout(prints+"\n")))
		req := clichain.Prompt(":uses of a paper clip")
		req.Model = "small"
		resp, err := p.Complete(t.Context(), req)
		r, readErr := clitest.ReadRecord(record)
		require.NoError(t, readErr)
		return resp, r, err
	}
	t.Run("answers", func(t *testing.T) {
		clitest.NoLeaks(t)
		resp, r, err := run(t, prints[0])
		require.NoError(t, err)
		require.Equal(t, "Hang a picture; mark a page.", resp.Text)
		require.Equal(t, chaintest.HandleOf("lumen", "c-17"), resp.Session)
		require.Equal(t, "lumen-2", resp.Model)
		require.Equal(t, clichain.Usage{InputTokens: 11, OutputTokens: 9}, resp.Usage)
		require.Equal(t, " :uses of a paper clip", string(r.Stdin), "behind the guard")
		require.Equal(t, []string{"chat", "--json", "--tools", "off", "--system"}, r.Args[1:6])
		require.Equal(t, []string{"--model", "lumen-1-mini"}, r.Args[7:])
		require.Contains(t, r.Env, "LUMEN_QUIET=1")
	})
	t.Run("at its limit", func(t *testing.T) {
		clitest.NoLeaks(t)
		_, _, err := run(t, prints[1])
		be := chaintest.RequireReason(t, clichain.ReasonUsageLimit, err)
		require.WithinDuration(t, time.Now().Add(150*time.Minute), be.RetryAfter, time.Minute)
	})
}
