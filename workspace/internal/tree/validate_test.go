package tree

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/call"
)

const added = `diff --git a/PATH b/PATH
new file mode 100644
index 0000000000000000000000000000000000000000..d00491fd7e5bb6fa28c517a0bb32b8b506539d4d
--- /dev/null
+++ b/PATH
@@ -0,0 +1 @@
+1
`

func adds(path string) *call.Changes {
	return &call.Changes{
		Patch: strings.ReplaceAll(added, "PATH", path),
		Files: []call.FileChange{{Path: path, Kind: call.ChangeAdded, Mode: "100644"}},
	}
}

func TestApplyRefusesInvalidChanges(t *testing.T) {
	replaced := func(old, text string) *call.Changes {
		c := adds("a")
		require.Contains(t, c.Patch, old)
		c.Patch = strings.Replace(c.Patch, old, text, 1)
		return c
	}
	both := func(a, b string) *call.Changes {
		x, y := adds(a), adds(b)
		return &call.Changes{Patch: x.Patch + y.Patch, Files: append(x.Files, y.Files...)}
	}
	other := func(change func(f *call.FileChange)) *call.Changes {
		c := adds("a")
		change(&c.Files[0])
		return c
	}
	listed := adds("a")
	listed.Files = nil
	rename := &call.Changes{
		Patch: "diff --git a/a b/b\nsimilarity index 100%\nrename from a\nrename to b\n",
		Files: []call.FileChange{{Path: "b", From: "a", Kind: call.ChangeRenamed, Mode: "160000"}},
	}
	for name, test := range map[string]struct {
		changes *call.Changes
		want    string
	}{
		"nil":                     {nil, "no changes were given"},
		"not UTF-8":               {&call.Changes{Patch: "\xff"}, "the patch is not UTF-8"},
		"no patch":                {&call.Changes{Patch: "hello\n"}, "unknown form"},
		"parent":                  {adds("../a"), `the path "../a" is not allowed`},
		"hidden parent":           {adds("d/../../a"), "is not allowed"},
		"absolute":                {adds("/tmp/a"), "is not allowed"},
		"empty part":              {adds("d//a"), "is not allowed"},
		"dot":                     {adds("./a"), "is not allowed"},
		"git directory":           {adds(".git/config"), "is not allowed"},
		"nested git directory":    {adds("d/.GIT/hooks/x"), "is not allowed"},
		"git file":                {adds("d/.git"), "is not allowed"},
		"submodule":               {replaced("100644", "160000"), `the mode "160000" is unknown`},
		"submodule of a rename":   {rename, `the mode "160000" is unknown`},
		"set-uid":                 {replaced("100644", "104755"), "is unknown"},
		"other name of the blob":  {replaced("d00491", "d00492"), "does not have the name"},
		"other path in the hunks": {replaced("+++ b/a", "+++ b/c"), "unknown form"},
		"other path in a header":  {replaced("a/a b/a", "a/a b/c"), "unknown form"},
		"count of lines":          {replaced("+1 @@", "+1,2 @@"), "unknown form"},
		"context of a new file":   {replaced("-0,0 +1 @@\n+1", "-1 +1,2 @@\n 0\n+1"), `the changes do not fit|unknown form`},
		"truncated binary":        {replaced("--- /dev/null\n+++ b/a\n@@ -0,0 +1 @@\n+1\n", "GIT binary patch\nliteral 5\n"), "unknown form"},
		"bomb":                    {replaced("--- /dev/null\n+++ b/a\n@@ -0,0 +1 @@\n+1\n", "GIT binary patch\nliteral 99999999999\n"), "more than"},
		"same path twice":         {both("a", "a"), "twice"},
		"below a file":            {both("a", "a/b"), `writes both "a" and "a/b"`},
		"missing in the list":     {listed, "the list of files has 0 files, and the patch 1"},
		"other path in the list":  {other(func(f *call.FileChange) { f.Path = "b" }), "does not describe the patch"},
		"other kind in the list":  {other(func(f *call.FileChange) { f.Kind = call.ChangeDeleted }), "does not describe the patch"},
		"other mode in the list":  {other(func(f *call.FileChange) { f.Mode = "100755" }), "does not describe the patch"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "dir")
			require.NoError(t, os.Mkdir(dir, 0o755))
			err := Apply(t.Context(), dir, test.changes)
			require.Error(t, err)
			require.Regexp(t, test.want, err.Error())
			require.Empty(t, state(t, filepath.Dir(dir))["dir/a"])
			require.Len(t, state(t, filepath.Dir(dir)), 1)
		})
	}
	dir := t.TempDir()
	require.NoError(t, Apply(t.Context(), dir, adds("a")))
	require.Equal(t, world{"a": text("1")}, read(t, dir))
}

func TestAliasOfGit(t *testing.T) {
	for _, name := range []string{".git ", ".GIT.", "git~1", "GIT~1"} {
		require.True(t, aliasOfGit("windows", name), "%q", name)
	}
	for _, name := range []string{".g\u200cit", ".Git\ufeff"} {
		require.True(t, aliasOfGit("darwin", name), "%q", name)
	}
	for _, system := range []string{"windows", "darwin", "linux"} {
		require.False(t, aliasOfGit(system, ".github"))
		require.False(t, aliasOfGit(system, ".gitignore"))
	}
}

// Git itself applies the patch of Diff, with the changes that Diff itself made binary.
func TestPatchIsForGit(t *testing.T) {
	skipWindows(t)
	base, after := world{}, world{}
	for name, n := range all {
		base[name] = n
	}
	for name, n := range allAfter {
		after[name] = n
	}
	base["latin"], after["latin"] = node{data: "caf\xe9\n"}, node{data: "caf\xe9s\n"}
	base["late zero"] = node{data: strings.Repeat("line\n", 3000) + "\x00"}
	after["late zero"] = node{data: strings.Repeat("line\n", 3000) + "\x00\x00"}
	base["cut"] = node{data: strings.Repeat("é", 60) + "\n" + strings.Repeat("\tx\n", 9)}
	after["cut"] = node{data: base["cut"].data + "y\n"}
	after["to nowhere"] = node{data: "\xff", link: true}
	c := changesOf(t, base, after)
	require.True(t, utf8.ValidString(c.Patch))
	require.NotContains(t, c.Patch, "\x00")
	for _, f := range c.Files {
		want := strings.Contains(" latin / late zero / to nowhere / binary ", " "+f.Path+" ")
		require.Equal(t, want, f.Binary, f.Path)
		require.False(t, f.Binary && f.Added+f.Deleted > 0, f.Path)
	}
	dir := t.TempDir()
	base.write(t, dir)
	cmd := exec.Command("git", "apply", "--unsafe-paths", "--directory="+dir, "-")
	cmd.Dir, cmd.Stdin = t.TempDir(), strings.NewReader(c.Patch)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Equal(t, after, read(t, dir))
}

func TestChangesOfOddNames(t *testing.T) {
	skipWindows(t)
	c := changesOf(t, world{"a": text("1")}, world{"A": text("1"), "new\nline\t\"": text("n"), `"q"`: text("q"), "\xff": text("f")})
	var paths []string
	for _, f := range c.Files {
		paths = append(paths, f.Path+"<"+f.From+" "+string(f.Kind))
	}
	require.Equal(t, []string{
		`"\"q\""< added`, `"\377"< added`, "A<a renamed", "new\nline\t\"< added",
	}, paths)
}

func TestDiffOfEqualTrees(t *testing.T) {
	c := changesOf(t, world{"a": text("1")}, world{"a": text("1")})
	require.Empty(t, c.Patch)
	require.Empty(t, c.Files)
	require.NoError(t, Apply(t.Context(), t.TempDir(), c))
}
