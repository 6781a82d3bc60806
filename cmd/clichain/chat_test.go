package main

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/clichain/clichain/clitest"
	"github.com/stretchr/testify/require"
)

// chat runs "clichain ask" in a directory, with fakes that record what they get.
type chat struct {
	*world
	dir     string
	records string // a directory
}

func newChat(t *testing.T, env ...string) *chat {
	w := newWorld(t)
	w.env = append(w.env, env...)
	c := &chat{w, t.TempDir(), t.TempDir()}
	c.says("claude", "from claude")
	c.says("codex", "from codex")
	return c
}

// says installs a fake that records its input and answers.
func (c *chat) says(name, text string) {
	steps := append([]clitest.Step{{Record: filepath.Join(c.records, name)}}, answer(name, text)...)
	_, err := clitest.Install(c.bin, name, clitest.Scenario{Steps: steps})
	require.NoError(c.t, err)
}

// got returns the last input of a fake, and the arguments.
func (c *chat) got(name string) (stdin, args string) {
	c.t.Helper()
	r, err := clitest.ReadRecord(filepath.Join(c.records, name))
	require.NoError(c.t, err)
	return string(r.Stdin), strings.Join(r.Args, " ")
}

func (c *chat) ask(args ...string) *exec.Cmd {
	cmd := c.command(append([]string{"ask", "--no-stdin"}, args...)...)
	cmd.Dir = c.dir
	return cmd
}

// run returns the output of a command, and fails the test if its exit code is another one.
func (c *chat) run(status int, args ...string) (stdout, stderr string) {
	c.t.Helper()
	var out, errs bytes.Buffer
	cmd := c.ask(args...)
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	require.Equal(c.t, status, cmd.ProcessState.ExitCode(), "%v\n%s\n%s", err, &out, &errs)
	return out.String(), errs.String()
}

// stored returns the content of all files in the state directory, and the path of the only conversation.
func (c *chat) stored() (all, path string) {
	c.t.Helper()
	require.NoError(c.t, filepath.WalkDir(c.cache, func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := os.ReadFile(name)
		all += string(data)
		if strings.HasSuffix(name, ".json") && filepath.Base(filepath.Dir(name)) == "conversations" {
			require.Empty(c.t, path)
			path = name
		}
		return err
	}))
	return all, path
}
