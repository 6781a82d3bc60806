package openai

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/clichain/clichain/openai/internal/request"
)

// saveImages writes images to files of a private directory, which remove removes.
func saveImages(images []request.Image) (names []string, remove func(), err error) {
	if len(images) == 0 {
		return nil, func() {}, nil
	}
	dir, err := os.MkdirTemp("", "clichain-serve-")
	if err != nil {
		return nil, nil, err
	}
	remove = func() { _ = os.RemoveAll(dir) } // what remains is in the directory for temporary files
	for i, image := range images {
		name := filepath.Join(dir, fmt.Sprintf("image-%d%s", i+1, image.Ext))
		if err := os.WriteFile(name, image.Data, 0o600); err != nil {
			remove()
			return nil, nil, err
		}
		names = append(names, name)
	}
	return names, remove, nil
}
