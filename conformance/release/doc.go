// Package release makes a release of this checkout in its own repository and plays a reader who follows README and
// two pages that it links to: it runs each command and each Go file of theirs, in an empty home. It must never write to
// this checkout.
package release
