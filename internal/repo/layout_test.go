package repo_test

import (
	"fmt"
	"os/exec"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// floors are the packages of the root module, from the bottom up: a package may import only packages of lower floors.
// docs/explanation/architecture.md has the same table.
var floors = [][]string{
	{
		"internal/fakes", "internal/landlock", "internal/leaks", "internal/norace", "internal/npmshim", "internal/pattern",
		"internal/seccomptest", "internal/testtime",
		"internal/proc/internal/kinfo",
	},
	{
		"clitest/fake", "internal/chainview", "internal/leaks/parallel", "internal/lines", "internal/localfile", "internal/plaintext", "internal/proc", "internal/prose", "internal/resettime",
		"internal/semaphore", "internal/semver", "internal/spelling", "internal/testreport",
	},
	{"internal/fingerprint", "internal/grammar", "internal/history", "internal/jsontext", "internal/machine", "internal/skiplist", "internal/specfile", "call", "runs"},
	{
		"accept", "clispec", "internal/cassette", "internal/misconfig", "internal/structured", "openai/internal/apierror", "permit",
		"internal/transcript", "quota", "workspace/internal/git", "workspace/internal/rename",
	},
	{
		"cooldown", "fullschema", "internal/recording", "specs", "internal/confine", "internal/decode", "internal/instance", "internal/login",
		"internal/session", "internal/wire", "openai/internal/request", "workspace/internal/slots",
		"workspace/internal/tree",
	},
	{"order", "settings", "internal/compose", "internal/judge", "internal/policy", "internal/sessionfile", "openai/internal/response"},
	{"internal/container", "internal/contract", "internal/cooling", "internal/reading", "internal/workdir", "workspace/internal/check"},
	{"clitest/internal/dialect", "internal/backend", "internal/failover", "internal/held"},
	{"internal/provider"},
	{"."},
	{"cache", "calllog", "clitest", "internal/demo", "conversation", "doctor", "live", "openai", "workspace"},
	{
		"internal/chaintest", "examples/batch", "examples/ci", "examples/demo", "examples/internal/machine", "examples/lastresort", "examples/owncli",
		"examples/worker",
	},
}

// pure packages work only on values.
var pure = []string{
	"call", "clispec", "order", "internal/chainview", "internal/compose", "internal/contract", "internal/decode",
	"internal/grammar", "internal/instance", "internal/jsontext", "internal/judge", "internal/lines", "internal/misconfig",
	"internal/pattern", "internal/plaintext", "internal/policy", "internal/proc/internal/kinfo", "internal/prose", "internal/resettime", "internal/semver", "internal/session",
	"internal/spelling", "internal/structured", "internal/transcript", "internal/wire",
	"openai/internal/apierror", "openai/internal/request", "openai/internal/response", "quota", "workspace/internal/rename",
}

// impure are imports that a pure package must not have.
var impure = []string{"os", "os/exec", "net", "syscall"}

// owners are imports that only some packages or files may have.
var owners = map[string][]string{
	"os/exec": {
		"internal/machine", "internal/norace", "internal/proc", "internal/testtime", "clitest/fake", "examples/ci", "examples/internal/machine",
		"internal/chaintest",
	},
	"github.com/santhosh-tekuri/jsonschema/v6":   {"fullschema"},
	"github.com/google/jsonschema-go/jsonschema": {}, // only for tests
	"github.com/gofrs/flock":                     {"internal/localfile"},
	"github.com/cenkalti/backoff/v4":             {"internal/provider"},
	"github.com/hashicorp/go-multierror":         {"call", "clispec", "specs"},
}

const (
	maxRootFiles = 30
	maxRootTests = 15
	maxRootDoc   = 45
	maxFiles     = 2600
)

func TestLayout(t *testing.T) {
	for _, problem := range layoutProblems(t, floors) {
		t.Error(problem)
	}
}

// The guard finds a package on the wrong floor, one without a floor, and a floor without code.
func TestLayoutGuard(t *testing.T) {
	require.Empty(t, layoutProblems(t, floors))
	up := slices.Clone(floors)
	up[0], up[8] = append([]string{"."}, up[0]...), []string{"nothing"}
	problems := strings.Join(layoutProblems(t, up), "\n")
	require.Contains(t, problems, "imports clispec, which is on no lower floor")
	require.Contains(t, problems, "floor 8: there is no package nothing")
	without := slices.Clone(floors)
	without[5] = []string{"order", "internal/compose"}
	require.Contains(t, strings.Join(layoutProblems(t, without), "\n"), "internal/judge has no floor")
}

func layoutProblems(t *testing.T, floors [][]string) (problems []string) {
	t.Helper()
	add := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	floor := map[string]int{}
	for i, names := range floors {
		for _, name := range names {
			floor[name] = i
		}
	}
	seen, docs := map[string]bool{}, map[string]int{}
	for _, f := range rootSources(t) {
		if f.test() {
			continue
		}
		dir := f.dir()
		if !seen[dir] && !contains(floors, dir) {
			add("%s has no floor", dir)
		}
		seen[dir] = true
		if f.ast.Doc != nil {
			docs[dir]++
		}
		for _, spec := range f.ast.Imports {
			name, err := strconv.Unquote(spec.Path.Value)
			require.NoError(t, err)
			if slices.Contains(pure, dir) && slices.Contains(impure, name) {
				add("%s: %s is pure, and imports %s", f.at(spec.Pos()), dir, name)
			}
			if allowed := owners[name]; allowed != nil && !slices.Contains(allowed, dir) && !slices.Contains(allowed, f.path) {
				add("%s: imports %s, which belongs to %s", f.at(spec.Pos()), name, allowed)
			}
			if own, ok := inModule(name); ok && floor[own] >= floor[dir] {
				add("%s: %s imports %s, which is on no lower floor", f.at(spec.Pos()), dir, own)
			}
		}
	}
	for i, names := range floors {
		for _, name := range names {
			if !seen[name] {
				add("floor %d: there is no package %s", i, name)
			} else if docs[name] != 1 {
				add("%s has %d package comments, not one", name, docs[name])
			}
		}
	}
	return problems
}

func contains(floors [][]string, name string) bool {
	return slices.ContainsFunc(floors, func(names []string) bool { return slices.Contains(names, name) })
}

// inModule returns the directory of a package of the root module.
func inModule(name string) (dir string, ok bool) {
	if name == module {
		return ".", true
	}
	return strings.CutPrefix(name, module+"/")
}

func TestRootIsSmall(t *testing.T) {
	files, tests := 0, 0
	for _, f := range rootSources(t) {
		switch {
		case f.dir() != ".":
		case f.test():
			tests++
		default:
			files++
		}
	}
	require.LessOrEqual(t, files, maxRootFiles)
	require.LessOrEqual(t, tests, maxRootTests, "other tests are in packages below internal/chaintest")
	out, err := exec.Command("go", "doc", "-short", ".").Output()
	require.NoError(t, err)
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	require.LessOrEqual(t, len(lines), maxRootDoc, "the exported declarations of the root")
	for _, name := range []string{
		"call.go", "spec.go", "config.go", "provider.go", "chain.go", "suppress.go", "provider_test.go", "chain_test.go",
	} {
		require.FileExists(t, name)
	}
}

func TestTreeIsSmall(t *testing.T) {
	sources(t) // skips without git
	list, err := exec.Command("git", "ls-files", "-z").Output()
	require.NoError(t, err)
	require.LessOrEqual(t, strings.Count(string(list), "\x00"), maxFiles, "files in git")
}

// internals are the internal packages of the root module that nested modules may use. All except internal/demo are for
// tests.
var internals = []string{
	"internal/demo", "internal/history", "internal/leaks/parallel", "internal/norace", "internal/recording",
	"internal/seccomptest", "internal/testtime",
}

// Nested modules use only public packages, like any user. The command also shows the demo, and tests use what is for tests.
func TestNestedModulesUsePublicPackages(t *testing.T) {
	roots := rootSources(t)
	for _, f := range sources(t) {
		if slices.ContainsFunc(roots, func(r *sourceFile) bool { return r.path == f.path }) {
			continue
		}
		for _, spec := range f.ast.Imports {
			name, err := strconv.Unquote(spec.Path.Value)
			require.NoError(t, err)
			own, ok := inModule(name)
			before, _, internal := strings.Cut(path.Clean(own)+"/", "internal/")
			if slices.Contains(internals, own) && (f.test() || own == "internal/demo") {
				continue
			}
			if ok && internal && (before == "" || !strings.HasPrefix(f.path, before)) {
				t.Errorf("%s: imports %s", f.at(spec.Pos()), name)
			}
		}
	}
}
