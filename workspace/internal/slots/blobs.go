package slots

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/clichain/clichain/workspace/internal/git"
)

// batchSize is how many bytes of blobs one run of git stores.
const batchSize = 64 << 20

// storeBlobs stores in clichain's git directory the blobs of the copied files that neither it nor the original has.
func storeBlobs(ctx context.Context, r git.Repo, entries []entry, index []staged) error {
	have := make(map[string]bool, len(index))
	for _, e := range index {
		have[e.object] = true
	}
	var input bytes.Buffer
	var batch []int
	store := func() error {
		if len(batch) == 0 {
			return nil
		}
		_, err := r.Run(ctx, &input, "-c", "core.compression=1", "fast-import", "--quiet", "--depth=0")
		for _, i := range batch {
			entries[i].own = err == nil
		}
		input.Reset()
		batch = batch[:0]
		return err
	}
	for i, e := range entries {
		if e.carried || e.own || have[e.object] {
			continue
		}
		data, err := content(filepath.Join(r.Files, filepath.FromSlash(e.path)), e.dst)
		if err != nil {
			return err
		}
		fmt.Fprintf(&input, "blob\ndata %d\n", len(data))
		input.Write(data)
		input.WriteByte('\n')
		batch = append(batch, i)
		if input.Len() >= batchSize {
			if err := store(); err != nil {
				return err
			}
		}
	}
	return store()
}

func content(path string, s stamp) ([]byte, error) {
	if s.kind() == kindLink {
		target, err := os.Readlink(path)
		return []byte(target), err
	}
	return os.ReadFile(path)
}
