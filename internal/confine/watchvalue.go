package confine

import (
	"crypto/sha256"
	"slices"

	"github.com/clichain/clichain/internal/localfile"
	"github.com/tidwall/gjson"
)

// maxValues limits the size of a JSON file whose values are compared, in bytes.
const maxValues = 16 << 20

// lookValue returns the state of a value in a JSON file, and false if the value is missing or empty. The other values
// of the file do not count, because a CLI may change them in each run.
func lookValue(root watchedRoot) (file watchedFile, ok bool) {
	data, err := localfile.Read(root.path, maxValues)
	if err != nil {
		return file, false
	}
	value := gjson.GetBytes(data, root.value+"|@ugly").Raw
	if slices.Contains([]string{"", "null", "{}", "[]", `""`}, value) {
		return file, false
	}
	return watchedFile{why: root.why, hash: sha256.Sum256([]byte(value))}, true
}
