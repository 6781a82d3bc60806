package jetstream_test

import (
	"context"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/jetstream"
	"github.com/clichain/clichain/specs"
	"github.com/clichain/clichain/workspace"
	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"
)

var copiesSeed = flag.Uint64("copies-seed", 0, "seed of the kills of TestIsolatedWorkersAreKilled; 0: a random seed")

// agentVariable is the environment variable with the path of the CLI of a worker process that works in copies.
const agentVariable = "CLICHAIN_TEST_AGENT"

// agentScript is a CLI that writes a file with the name of its job.
const agentScript = `#!/bin/sh
id=$(sed -n 's/.*prompt of //p')
echo "$id" >"$id"
echo '` + answered + `'
`

// inCopy returns the backend of such a worker.
func inCopy(agent string) clichain.Backend {
	cli := clichain.NewProvider(specs.Claude(), &clichain.Config{
		Binary: agent, Timeout: 10 * time.Minute, Env: []string{"ANTHROPIC_API_KEY=x"}, Confine: call.ConfineOff,
	})
	return noCooldown(workspace.New(cli, &workspace.Config{AssumeIsolated: true}))
}

// Two worker processes, of which one is killed again and again, change the same repository in copies. Each job has one
// patch, with its own file, and the repository stays as it was.
func TestIsolatedWorkersAreKilled(t *testing.T) {
	t.Parallel()
	jobs := 60
	switch {
	case testing.Short():
		jobs = 40
	case os.Getenv("CLICHAIN_CONFORMANCE") == "long":
		jobs = 200
	}
	seed := *copiesSeed
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("kill at the same moments with -copies-seed=%d", seed)
	home := t.TempDir()
	env := append(os.Environ(), "HOME="+home, "XDG_CACHE_HOME="+filepath.Join(home, ".cache"),
		"XDG_STATE_HOME="+filepath.Join(home, ".state"), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
	agent, dir := filepath.Join(home, "claude"), filepath.Join(home, "app")
	require.NoError(t, os.WriteFile(agent, []byte(agentScript), 0o700))
	git := exec.Command("sh", "-c", `git init -q app && cd app && git config user.name A && git config user.email a@example.com &&
		for i in 1 2 3 4 5 6 7 8 9; do echo $i >file$i; done && git add . && git commit -q -m first && echo more >>file1`)
	git.Dir, git.Env = home, env
	out, err := git.CombinedOutput()
	require.NoError(t, err, "%s", out)
	before := filesOf(t, dir)
	s := listen(t)
	nc, err := nats.Connect(s.ClientURL())
	require.NoError(t, err)
	t.Cleanup(nc.Close)
	q := open(t, nc, &jetstream.Config{Name: soakConfig.Name, AckWait: time.Second, MaxDeliver: 1000})
	for i := range jobs {
		j := job(fmt.Sprintf("job-%d", i))
		j.Request.Access, j.Request.Dir = clichain.AccessWrite, dir
		submit(t, q, j)
	}
	f := &fleet{t: t, env: append(env, workerVariable+"="+s.ClientURL(), agentVariable+"="+agent)}
	for range 2 {
		f.start()
	}
	t.Cleanup(f.stop)
	sequences, kills := killBetween(t, q, f, jobs, rand.New(rand.NewPCG(seed, 0)))
	require.Eventually(t, func() bool {
		d, err := q.Depth(t.Context())
		return err == nil && d.Running+d.Parked+d.Ready[jetstream.PriorityNormal] == 0
	}, limit, 10*time.Millisecond)
	f.stop()
	requirePatches(t, q, sequences)
	require.Equal(t, before, filesOf(t, dir))
	require.Eventually(t, func() bool { return len(clitest.Survivors(agent)) == 0 }, limit, 50*time.Millisecond)
	t.Logf("%d jobs, %d workers killed", jobs, kills)
}

// killBetween kills workers until all jobs have results. Between two kills are a random number of results and a random
// part of the time that one result takes. sequences has the sequence of each result by the ID of its job.
func killBetween(t *testing.T, q *jetstream.Queue, f *fleet, jobs int, r *rand.Rand) (sequences map[string]uint64, kills int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit+2*time.Duration(jobs)*time.Second)
	defer cancel()
	began, next := time.Now(), 0
	sequences = map[string]uint64{}
	for result, err := range q.Results(ctx, 0) {
		require.NoError(t, err)
		require.NotContains(t, sequences, result.ID, "a job has one result")
		sequences[result.ID] = result.Sequence
		got := len(sequences)
		if got == jobs {
			break
		}
		if got >= next {
			time.Sleep(time.Duration(r.Float64() * float64(time.Since(began)) / float64(got))) // the moment is random
			f.killAt(r.Float64())
			kills, next = kills+1, got+1+r.IntN(12)
		}
	}
	require.Len(t, sequences, jobs)
	return sequences, kills
}

// requirePatches requires that the queue has kept these results, each with a patch that adds the file of its job.
func requirePatches(t *testing.T, q *jetstream.Queue, sequences map[string]uint64) {
	t.Helper()
	kept, repeated := map[string]uint64{}, 0
	for result, err := range q.Kept(t.Context(), 0) {
		require.NoError(t, err)
		require.NotContains(t, kept, result.ID)
		kept[result.ID] = result.Sequence
		require.Nil(t, result.Failure, result.ID)
		require.NotNil(t, result.Response.Changes, result.ID)
		require.Equal(t, []call.FileChange{{Path: result.ID, Kind: call.ChangeAdded, Mode: "100644", Added: 1}},
			result.Response.Changes.Files)
		require.Contains(t, result.Response.Changes.Patch, "\n+"+result.ID+"\n")
		repeated += min(1, len(result.History))
	}
	require.Equal(t, sequences, kept)
	require.NotZero(t, repeated, "no worker was killed during a job")
	t.Logf("%d jobs ran again", repeated)
}

// filesOf returns the modes and contents of the files below a directory, with those of git.
func filesOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	require.NoError(t, filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		require.NoError(t, err)
		info, err := entry.Info()
		require.NoError(t, err)
		files[path] = info.Mode().String()
		if info.Mode().IsRegular() {
			data, err := os.ReadFile(path)
			require.NoError(t, err)
			files[path] += string(data)
		}
		return nil
	}))
	return files
}
