package prose_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/clichain/clichain/internal/prose"
	"github.com/stretchr/testify/require"
)

var (
	sample = flag.Int("sample", 0, "print so many sentences of the repository, drawn at random")
	seed   = flag.Uint64("seed", 1, "seed of -sample")
	under  = flag.String("under", "", "check and sample only files whose path has this prefix")
)

const root = "../.."

func git(t *testing.T, args ...string) []string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "git", append([]string{"-C", root}, args...)...).Output()
	if err != nil {
		t.Skipf("git %s: %v", args[0], err)
	}
	return strings.FieldsFunc(string(out), func(r rune) bool { return r == '\n' })
}

// repository returns the sentences of all pages and Go files.
func repository(t *testing.T) (all []prose.Sentence) {
	for _, file := range git(t, "ls-files", "*.md", "*.go") {
		if !strings.HasPrefix(file, *under) || strings.Contains(file, "/testdata/") || file == "THIRD_PARTY.md" {
			continue
		}
		src, err := os.ReadFile(filepath.Join(root, file))
		if os.IsNotExist(err) {
			continue // deleted, and not yet committed
		}
		require.NoError(t, err)
		if strings.HasSuffix(file, ".md") {
			all = append(all, prose.FromMarkdown(file, string(src))...)
			continue
		}
		found, err := prose.FromGo(file, string(src))
		require.NoError(t, err)
		all = append(all, found...)
	}
	return all
}

// exceptions are plain sentences that a rule takes for others.
var exceptions = []string{
	`Where returns all places that contain the text, such as "args2", "stdin", "env HOME" and "file system.md".`,
}

// TestRepositoryIsPlain checks every sentence of the repository. The race detector slows patterns tenfold, so that only
// a part is checked there; .ci/run checks the whole repository without it.
func TestRepositoryIsPlain(t *testing.T) {
	all := repository(t)
	if underRace {
		all = all[:len(all)/10]
	}
	for _, s := range all {
		if strings.HasPrefix(s.File, "internal/prose/") || slices.Contains(exceptions, s.Text) {
			continue // the package names the words that it finds
		}
		for _, problem := range prose.Problems(s) {
			t.Errorf("%s:%d: %s\n\t%s", s.File, s.Line, problem, s.Text)
		}
	}
}

// TestSample draws the sentences that an editor judges: -sample 100 -seed 7 -v.
func TestSample(t *testing.T) {
	if *sample == 0 {
		t.Skip("-sample is not given")
	}
	var long []prose.Sentence
	for _, s := range repository(t) {
		if len(strings.Fields(s.Text)) >= 5 {
			long = append(long, s)
		}
	}
	fmt.Printf("%d of %d sentences, seed %d\n", *sample, len(long), *seed)
	r := rand.New(rand.NewPCG(*seed, 0))
	for i, at := range r.Perm(len(long))[:min(*sample, len(long))] {
		fmt.Printf("%d. %s:%d: %s\n", i+1, long[at].File, long[at].Line, long[at].Text)
	}
}

// lastUnchecked is the last commit whose subject is not checked.
const lastUnchecked = "c89eceabe69ddc10fdf853b9dee325832fa18b5e"

// TestSubjectsNameAPackage checks the subjects of the commits, in a clone that has them.
func TestSubjectsNameAPackage(t *testing.T) {
	for _, subject := range git(t, "log", "--no-merges", "--format=%s", lastUnchecked+"..HEAD") {
		if err := prose.CheckSubject(subject); err != nil {
			t.Errorf("commit %q: %v", subject, err)
		}
	}
}
