package container_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
)

// usedHome adds to a home directory what the home of a developer contains: settings, credentials, the state of other
// CLIs, and a repository, which is the result.
func usedHome(b *testing.B, home string) (repository string) {
	b.Helper()
	for _, file := range []string{
		".aws/credentials", ".azure/config", ".bash_history", ".bash_logout", ".bashrc", ".cache/go-build/a", ".cache/pip/a",
		".cache/uv/a", ".cargo/bin/cargo", ".cargo/registry/a", ".claude/settings.json", ".claude.json", ".codex/config.toml",
		".config/fish/config.fish", ".config/gcloud/a", ".config/gh/hosts.yml", ".config/git/ignore", ".config/google-chrome/a",
		".config/htop/a", ".docker/config.json", ".gemini/settings.json", ".gitconfig", ".gnupg/key", ".kube/config",
		".local/bin/tool", ".local/share/keyrings/a", ".local/share/opencode/auth.json", ".local/state/clichain/a",
		".lumen/hooks/start", ".mozilla/a", ".npm/_cacache/a", ".npmrc", ".nvm/a", ".profile", ".rustup/a", ".ssh/config",
		".viminfo", ".vscode/a", ".wget-hsts", ".zshrc", "Desktop/a", "Documents/a", "Downloads/a", "Music/a", "Pictures/a",
		"go/bin/tool", "go/pkg/mod/a", "notes.txt", "src/project/main.go", "src/other/main.go",
	} {
		path := filepath.Join(home, file)
		require.NoError(b, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(b, os.WriteFile(path, nil, 0o600))
	}
	b.Setenv("PATH", filepath.Join(home, ".local/bin")+":"+filepath.Join(home, "go/bin")+":"+os.Getenv("PATH"))
	repository = filepath.Join(home, "src/project")
	require.NoError(b, exec.Command("git", "init", "-q", repository).Run())
	return repository
}

// BenchmarkConfinement measures how much longer a confined call takes than an unconfined one. The calls take turns, so
// that the load of the machine affects all. The metrics are medians of the unconfined calls and the differences of the
// confined ones, in milliseconds.
func BenchmarkConfinement(b *testing.B) {
	home, spec := confinedHome(b)
	dir := usedHome(b, home)
	providers := []*clichain.Provider{
		clichain.NewProvider(spec, &clichain.Config{Confine: call.ConfineOff}), clichain.NewProvider(spec, confined()),
	}
	levels := []clichain.Access{clichain.AccessNone, clichain.AccessRead, clichain.AccessWrite}
	var times [3][2][]time.Duration
	for b.Loop() {
		for i, access := range levels {
			req := clichain.Prompt("true")
			if req.Access = access; access != clichain.AccessNone {
				req.Dir = dir
			}
			for j, p := range providers {
				began := time.Now()
				resp, err := p.Complete(b.Context(), req)
				times[i][j] = append(times[i][j], time.Since(began))
				require.NoError(b, err)
				require.Equal(b, j == 1, strings.HasPrefix(resp.Confined, "landlock"), resp.Confined)
			}
		}
	}
	median := func(list []time.Duration) float64 {
		slices.Sort(list)
		return list[len(list)/2].Seconds() * 1000
	}
	b.ReportMetric(0, "ns/op")
	for i, access := range levels {
		off := median(times[i][0])
		b.ReportMetric(off, fmt.Sprintf("ms-%s-off", access))
		b.ReportMetric(median(times[i][1])-off, fmt.Sprintf("ms-%s-more", access))
	}
}
