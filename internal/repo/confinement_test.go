package repo_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/internal/confine"
	"github.com/clichain/clichain/internal/landlock"
	"github.com/clichain/clichain/specs"
)

const confinementPage = "docs/reference/confinement.md"

// TestConfinementPage compares the tables of confinementPage with the rules and the specs; -update writes them.
func TestConfinementPage(t *testing.T) {
	for _, table := range []struct{ name, text string }{
		{"rights", rightsTable()}, {"exceptions", exceptionsTable()}, {"caches", cachesTable()},
		{"state", stateTable()}, {"files", filesTable()},
	} {
		begin := fmt.Sprintf("<!-- counted: %s, by go test ./internal/repo -update -->", table.name)
		hold(t, confinementPage, with(t, confinementPage, begin, table.text))
	}
}

func codes(paths []string) string {
	if len(paths) == 0 {
		return "–"
	}
	return "`" + strings.ReplaceAll(strings.Join(paths, "`, `"), "|", `\|`) + "`"
}

func rights(a landlock.Access) string {
	if a == 0 {
		return "–"
	}
	return a.String()
}

// rightsTable returns the rows of confine.Table. Rows with the same rights and the same reason become one.
func rightsTable() string {
	var b strings.Builder
	b.WriteString("| Path | none | read | write | Content |\n|---|---|---|---|---|\n")
	rows := confine.Table()
	for len(rows) > 0 {
		row, n, paths := rows[0], 0, []string{}
		for _, next := range rows {
			if next.Why != row.Why || next.None != row.None || next.Read != row.Read || next.Write != row.Write {
				break
			}
			paths = append(paths, next.Path)
			n++
		}
		rows = rows[n:]
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n",
			codes(paths), rights(row.None), rights(row.Read), rights(row.Write), row.Why)
	}
	return b.String()
}

func exceptionsTable() string {
	var b strings.Builder
	b.WriteString("| Path | Denied | Content |\n|---|---|---|\n")
	list := confine.Denials()
	for len(list) > 0 {
		first, n, paths := list[0], 0, []string{}
		for n < len(list) && list[n].Why == first.Why && list[n].Access == first.Access {
			paths = append(paths, list[n].Path)
			n++
		}
		list = list[n:]
		denied := "reading and writing"
		if first.Access == landlock.Write {
			denied = "writing"
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", codes(paths), denied, first.Why)
	}
	return b.String()
}

func cachesTable() string {
	var b strings.Builder
	b.WriteString("| Directory |\n|---|\n")
	for _, path := range confine.DefaultCaches() {
		fmt.Fprintf(&b, "| `%s` |\n", path)
	}
	return b.String()
}

// stateTable lists the state of each CLI, with the watched files and values below it.
func stateTable() string {
	var b strings.Builder
	b.WriteString("| CLI | State | Reported after a change |\n|---|---|---|\n")
	for _, spec := range specs.Every() {
		for _, state := range spec.Confine.State {
			fmt.Fprintf(&b, "| %s | `%s` | %s |\n", spec.Name, state.Path, codes(state.Watch))
		}
	}
	return b.String()
}

// filesTable lists the other files of each CLI. The first row has those of all CLIs.
func filesTable() string {
	all := specs.Every()
	common := slices.Clone(all[0].Confine.Read)
	for _, spec := range all {
		common = slices.DeleteFunc(common, func(path string) bool { return !slices.Contains(spec.Confine.Read, path) })
	}
	var b strings.Builder
	b.WriteString("| CLI | Readable | Readable if the CLI uses the cloud | Writable if the CLI uses the cloud | Own sandbox |\n|---|---|---|---|---|\n")
	fmt.Fprintf(&b, "| every CLI | %s | – | – | – |\n", codes(common))
	for _, spec := range all {
		read := slices.DeleteFunc(slices.Clone(spec.Confine.Read), func(path string) bool {
			return slices.Contains(common, path)
		})
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", spec.Name, codes(read),
			codes(ofClouds(spec, func(r clispec.PassRule) []string { return r.Read })),
			codes(ofClouds(spec, func(r clispec.PassRule) []string { return r.Write })), ownLevels(spec))
	}
	return b.String()
}

func ofClouds(spec clispec.Spec, list func(clispec.PassRule) []string) (paths []string) {
	for _, rule := range spec.PassEnvIf {
		for _, path := range list(rule) {
			if !slices.Contains(paths, path) {
				paths = append(paths, path)
			}
		}
	}
	return paths
}

func ownLevels(spec clispec.Spec) string {
	var levels []string
	for _, access := range spec.Confine.Own {
		levels = append(levels, access.String())
	}
	if len(levels) == 0 {
		return "–"
	}
	return strings.Join(levels, ", ")
}

// The page lists each reason for which a CLI is not confined.
func TestConfinementPageListsReasons(t *testing.T) {
	page, count := read(t, confinementPage), 0
	for file, pattern := range map[string]string{
		"internal/backend/confined.go":     `"no: ([^"]+)"`,
		"internal/landlock/start_linux.go": `&UnsupportedError\{"([^"]+)"\}`,
		"internal/landlock/start_other.go": `&UnsupportedError\{"([^"]+)"\}`,
	} {
		for _, reason := range regexp.MustCompile(pattern).FindAllStringSubmatch(read(t, file), -1) {
			require.Contains(t, page, "| `no: "+reason[1]+"` |", file)
			count++
		}
	}
	require.Equal(t, 8, count)
}
