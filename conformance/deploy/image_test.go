package deploy_test

import (
	"context"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/conformance/netns"
)

// image is the name of the image that the test builds.
const image = "clichain-of-a-test"

// podman runs the engine, and returns its output.
func podman(t *testing.T, limit time.Duration, args ...string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	out, err := exec.CommandContext(ctx, "podman", args...).CombinedOutput()
	return string(out), err
}

// TestImage builds the image and runs its programs, where an engine and a network can be had.
func TestImage(t *testing.T) {
	netns.RequireLong(t)
	if _, err := exec.LookPath("podman"); err != nil {
		t.Skip("no container engine: ", err)
	}
	file, err := os.ReadFile("../../deploy/container/Containerfile")
	require.NoError(t, err)
	for _, base := range regexp.MustCompile(`(?m)^FROM (\S+)`).FindAllStringSubmatch(string(file), -1) {
		if _, err := podman(t, time.Minute, "image", "exists", base[1]); err == nil {
			continue
		}
		if out, err := podman(t, 10*time.Minute, "pull", base[1]); err != nil {
			t.Skipf("no image %s: %v: %s", base[1], err, out)
		}
	}
	out, err := podman(t, 30*time.Minute, "build", "-t", image, "-f", "../../deploy/container/Containerfile", "../..")
	require.NoError(t, err, out)
	t.Cleanup(func() { _ = exec.Command("podman", "rmi", "-f", image).Run() })

	run := func(args ...string) string {
		out, err := podman(t, time.Minute, append([]string{"run", "--rm", "--network=none", "--read-only"}, args...)...)
		require.NoError(t, err, out)
		return strings.TrimSpace(out)
	}
	require.Equal(t, "10001", run("--entrypoint=id", image, "-u"))
	require.Contains(t, run(image, "--version"), "clichain")
	require.Contains(t, run(image, "worker", "--help"), "--metrics-address")
	for _, cli := range []string{"claude", "codex", "git"} {
		require.NotEmpty(t, run("--entrypoint="+cli, image, "--version"), cli)
	}
}
