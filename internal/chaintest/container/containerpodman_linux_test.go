package container_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/internal/chaintest"
)

// podmanArgs let a container run here: no network, no control groups, and limits that this user may set.
var podmanArgs = []string{"--network=none", "--cgroups=disabled", "--ulimit=nofile=1024:1024", "--ulimit=nproc=1000:1000", "-v", "/usr:/usr:ro"}

// podmanScript is podman with its own storage, in a mount namespace. It works only if the machine does not mix both
// versions of control groups.
const podmanScript = `#!/bin/sh
exec unshare -m sh -c 'mount -t tmpfs none /sys/fs/cgroup && mount -t cgroup2 none /sys/fs/cgroup &&
exec podman --root "$0/storage" --runroot "$0/run" --storage-driver=vfs --cgroup-manager=cgroupfs --events-backend=none "$@"' "${0%/*}" "$@"
`

// podman returns the client of a real engine with the container "dev" and the image "box", in which the CLI "boxed"
// runs a script. It skips the test if there is no engine or the engine cannot run.
func podman(t *testing.T, cli string) (client string) {
	t.Helper()
	for _, program := range []string{"podman", "unshare"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip("no container engine: ", err)
		}
	}
	dir, err := os.MkdirTemp("", "box") // the engine accepts only short paths
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	client = filepath.Join(dir, "podman")
	root := filepath.Join(dir, "root")
	for _, folder := range []string{"usr", "tmp", "proc", "sys", "dev", "etc", "run", "opt"} {
		require.NoError(t, os.MkdirAll(filepath.Join(root, folder), 0o755))
	}
	for _, folder := range []string{"bin", "lib", "lib64"} {
		require.NoError(t, os.Symlink("usr/"+folder, filepath.Join(root, folder)))
	}
	chaintest.WriteProgram(t, client, podmanScript)
	chaintest.WriteProgram(t, filepath.Join(root, "opt/boxed"), cli)
	run := func(args ...string) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if out, err := exec.CommandContext(ctx, client, args...).CombinedOutput(); err != nil {
			t.Skipf("no container can run here: podman %s: %v: %s", args[0], err, out)
		}
	}
	t.Cleanup(func() {
		_ = exec.Command(client, "rm", "-af", "-t", "0").Run() // there may be nothing to remove
		// The engine cleans up after an exec in its own process, which writes to its storage.
		storage := filepath.Join(dir, "storage")
		assert.Eventually(t, func() bool { return len(clitest.Survivors(storage)) == 0 }, time.Minute, 10*time.Millisecond)
	})
	chaintest.WriteProgram(t, filepath.Join(dir, "tar"), "#!/bin/sh\ntar -C \"$1\" -c . >\"$2\"\n")
	require.NoError(t, exec.Command(filepath.Join(dir, "tar"), root, filepath.Join(dir, "box.tar")).Run())
	run("import", filepath.Join(dir, "box.tar"), "box")
	run(append(append([]string{"run", "-d", "--init", "--name", "dev"}, podmanArgs...), "box", "sleep", "600")...)
	return client
}

// With a real engine a call gets its environment variables. Nothing is left inside after an answer or a timeout, and
// no container except those of other users.
func TestPodman(t *testing.T) {
	t.Parallel()
	const cli = "#!/bin/sh\nsetsid sleep %[1]s >/dev/null 2>&1 &\ncat >/dev/null\n[ \"$JOB\" = hang ] && exec sleep %[1]s\n" +
		"echo \"chat $CHAT_ID, job $JOB, $(pwd)\"\n"
	client := podman(t, fmt.Sprintf(cli, sleepTime))
	clitest.NoLeaks(t)
	ask := func(c clichain.Container, timeout time.Duration, job string) (*clichain.Response, error) {
		c.Runtime = client
		spec := clichain.CliSpec{Name: "boxed", Binary: "boxed", Args: []clispec.ArgRow{{Args: []string{"{prompt}"}}}}
		p := clichain.NewProvider(spec, &clichain.Config{
			Container: &c, Binary: "/opt/boxed", Timeout: timeout, RequestEnv: []string{"CHAT_ID", "JOB"},
		})
		req := clichain.Prompt("hi")
		req.Env = map[string]string{"CHAT_ID": "7", "JOB": job}
		return p.Complete(t.Context(), req)
	}
	for place, c := range map[string]clichain.Container{
		"exec": {Name: "dev"},
		"run":  {Image: "box", RunArgs: podmanArgs},
	} {
		t.Run(place, func(t *testing.T) {
			resp, err := ask(c, time.Minute, "nightly")
			require.NoError(t, err)
			require.Regexp(t, `^chat 7, job nightly, /tmp/clichain-\w+/empty$`, resp.Text)
			require.Empty(t, resp.Warnings)
			require.Empty(t, sleepers(t))

			_, err = ask(c, 5*time.Second, "hang")
			chaintest.RequireReason(t, clichain.ReasonTimeout, err)
			require.Empty(t, sleepers(t))
			out, err := exec.Command(client, "ps", "-a", "--format={{.Names}}").Output()
			require.NoError(t, err)
			require.Equal(t, "dev", strings.TrimSpace(string(out)))
		})
	}
}

// sleepTime is an argument of sleep that no other process has.
var sleepTime = fmt.Sprintf("321.%d", os.Getpid())

// sleepers returns the processes that the CLI of TestPodman leaves.
func sleepers(t *testing.T) (pids []string) {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	require.NoError(t, err)
	for _, file := range files {
		if text, err := os.ReadFile(file); err == nil && string(text) == "sleep\x00"+sleepTime+"\x00" {
			pids = append(pids, file)
		}
	}
	return pids
}
