package workspace_test

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/specs"
	"github.com/clichain/clichain/workspace"
)

var (
	long     = flag.Bool("long", false, "kill more hosts")
	killSeed = flag.Uint64("kill-seed", 0, "seed of the moments of TestKilledHost; 0: a random seed")
)

// Environment variables of a host process: the repository, the path of its CLI, and the numbers of its goroutines and of
// the calls of each.
const (
	hostVariable  = "WORKSPACE_TEST_HOST"
	agentVariable = "WORKSPACE_TEST_AGENT"
	callsVariable = "WORKSPACE_TEST_CALLS"
)

// hostScript changes files, and shows them to the check.
var hostScript = says(begin, writes) + "echo x >made; echo y >>changed; rm committed\n" + says(answers)

// hostChanges are the changes of hostScript.
const hostChanges = "[changed modified] [committed deleted] [made added]"

// hostMain is a host process: its goroutines call a workspace of the same repository. It prints a line after each call.
func hostMain(dir string) {
	cli := clichain.NewProvider(specs.Claude(), &clichain.Config{
		Binary: os.Getenv(agentVariable), Timeout: 10 * time.Minute, Confine: call.ConfineAuto,
	})
	backend := workspace.New(cli, &workspace.Config{Checks: [][]string{{"test", "-e", "made"}}})
	var goroutines, calls int
	if _, err := fmt.Sscan(os.Getenv(callsVariable), &goroutines, &calls); err != nil {
		panic(err)
	}
	var all sync.WaitGroup
	for range goroutines {
		all.Go(func() {
			for range calls {
				resp, err := backend.Complete(context.Background(), work(dir))
				if err != nil {
					fmt.Println("error:", err)
					os.Exit(1)
				}
				fmt.Println(listed(resp))
			}
		})
	}
	all.Wait()
}

// listed lists the changed files of an answer in one line.
func listed(resp *clichain.Response) string {
	var files []string
	for _, f := range resp.Changes.Files {
		files = append(files, fmt.Sprintf("[%s %s]", f.Path, f.Kind))
	}
	return strings.Join(files, " ")
}

// startHost starts a host process. lines has the lines that it prints.
func startHost(t *testing.T, dir, cli, calls string) (cmd *exec.Cmd, lines *bufio.Scanner) {
	t.Helper()
	cmd = exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), hostVariable+"="+dir, agentVariable+"="+cli, callsVariable+"="+calls)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	return cmd, bufio.NewScanner(out)
}

// A host that is killed at any moment changes nothing in the original. The next host returns only the changes of its
// agents, and removes what the killed one left.
func TestKilledHost(t *testing.T) {
	kills := 8
	if *long {
		kills = 50
	}
	seed := *killSeed
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("run the same moments with -kill-seed=%d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	cli := agent(t, "claude", hostScript, clichain.Config{}).Config().Binary
	dir := repository(t)
	shell(t, dir, `for i in $(seq 200); do echo $i >sub/$i; done; git add sub; git commit -q -m more -- sub`)
	before := contents(t, dir)

	began := time.Now()
	first, lines := startHost(t, dir, cli, "2 2")
	for range 4 {
		require.True(t, lines.Scan())
		require.Equal(t, hostChanges, lines.Text())
	}
	require.NoError(t, first.Wait())
	span := time.Since(began) // a host makes about four calls in this time
	dead := 0
	for range kills {
		host, lines := startHost(t, dir, cli, "2 1000000")
		for range r.IntN(4) {
			require.True(t, lines.Scan())
			require.Equal(t, hostChanges, lines.Text())
		}
		time.Sleep(time.Duration(r.Int64N(int64(span)))) // the moment is random
		require.NoError(t, host.Process.Kill())
		for lines.Scan() {
			require.Equal(t, hostChanges, lines.Text())
		}
		_ = host.Wait()
		unchanged(t, dir, before)
		dead += len(leftovers(t))
	}
	require.NotZero(t, dead, "no host was killed during a call")
	t.Logf("%d killed hosts left %d copies", kills, dead)

	// A host removes directories of temp only after two days, and stops after a short time.
	temp := filepath.Join(os.TempDir(), "clichain-*")
	left, err := filepath.Glob(temp)
	require.NoError(t, err)
	if *long { // few kills may all come before or after the run of a CLI
		require.NotEmpty(t, left)
	}
	for range 20 {
		for _, path := range left {
			old := time.Now().Add(-72 * time.Hour)
			require.NoError(t, os.Chtimes(path, old, old))
		}
		next, lines := startHost(t, dir, cli, "1 1")
		for lines.Scan() {
			require.Equal(t, hostChanges, lines.Text())
		}
		require.NoError(t, next.Wait())
		require.Empty(t, leftovers(t))
		left, err = filepath.Glob(temp)
		require.NoError(t, err)
		if len(left) == 0 {
			break
		}
	}
	clean(t, dir, before)
	require.Empty(t, clitest.Survivors(cli), "a CLI survived its host")
}

// leftovers lists the copies in the cache that a process uses or has left, and those that are being removed.
func leftovers(t *testing.T) (found []string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(cache(), func(path string, entry fs.DirEntry, err error) error {
		require.NoError(t, err)
		rel, err := filepath.Rel(cache(), path)
		require.NoError(t, err)
		depth := strings.Count(rel, string(filepath.Separator))
		switch {
		case depth == 0 && strings.HasPrefix(entry.Name(), ".trash-"), depth == 2 && entry.Name() == "used":
			found = append(found, rel)
		case depth == 2 && entry.IsDir():
			return filepath.SkipDir
		}
		return nil
	}))
	return found
}
