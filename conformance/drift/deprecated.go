package drift

import (
	"encoding/json"
	"fmt"
)

// Deprecated returns what the publisher of an installed package says of its deprecation, as npm notes it in a
// package-lock.json. Empty: the package is not deprecated. It is an error if the lock file does not have the package.
func Deprecated(lock []byte, name string) (string, error) {
	var file struct {
		Packages map[string]struct{ Deprecated string }
	}
	if err := json.Unmarshal(lock, &file); err != nil {
		return "", err
	}
	p, ok := file.Packages["node_modules/"+name]
	if !ok {
		return "", fmt.Errorf("the lock file has no package %q", name)
	}
	return p.Deprecated, nil
}
