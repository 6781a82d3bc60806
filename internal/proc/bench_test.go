//go:build unix

package proc_test

import (
	"context"
	"io"
	"os/exec"
	"testing"

	"github.com/clichain/clichain/clitest/fake"
	"github.com/clichain/clichain/internal/proc"
	"github.com/stretchr/testify/require"
)

// BenchmarkSpawn compares the total cost of one run of /bin/true with that of os/exec with buffers.
func BenchmarkSpawn(b *testing.B) {
	b.Run("proc", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_, err := proc.Run(context.Background(), proc.Command{Path: "/bin/true"})
			require.NoError(b, err)
		}
	})
	b.Run("os-exec", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_, err := exec.Command("/bin/true").CombinedOutput()
			require.NoError(b, err)
		}
	})
}

// BenchmarkCapture measures the cost of 100 MB of output: captured, captured and delivered, and with os/exec.
func BenchmarkCapture(b *testing.B) {
	const size = 100 << 20
	path := fake.New(b, "fake", fake.Scenario{Steps: []fake.Step{{FloodStdout: size}}})
	bench := func(name string, run func() error) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(size)
			for b.Loop() {
				require.NoError(b, run())
			}
		})
	}
	bench("proc", func() error {
		_, err := proc.Run(context.Background(), proc.Command{Path: path})
		return err
	})
	bench("proc-writer", func() error {
		_, err := proc.Run(context.Background(), proc.Command{Path: path, Stdout: io.Discard})
		return err
	})
	bench("os-exec", func() error {
		_, err := exec.Command(path).Output()
		return err
	})
}
