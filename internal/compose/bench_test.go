package compose

import (
	"os"
	"testing"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/specs"
)

func BenchmarkCompose(b *testing.B) {
	for _, spec := range specs.Every() {
		b.Run(spec.Name, func(b *testing.B) {
			composer, host := composerOf(b, spec), testHost()
			host.Environ = os.Environ()
			req := call.Prompt("What is the answer?")
			b.ReportAllocs()
			for b.Loop() {
				if _, err := composer.Compose(req, Choice{}, host); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
