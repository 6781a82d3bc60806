package openai

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
)

// maxImages bounds the images of a request; its body bounds their size.
const maxImages = 20

// imageDetail is how closely a model is to look.
var imageDetail = no("CLIs take no such setting", `"auto"`)

// tooMany refuses more images than one looks at.
func tooMany(at string, list []image) *apiError {
	if len(list) <= maxImages {
		return nil
	}
	return refusal(at, "unsupported_value", "%d images are more than %d", len(list), maxImages)
}

// image is one that came as a data: URL.
type image struct {
	ending string
	data   []byte
}

// endings are the kinds of images that CLIs look at.
var endings = map[string]string{"image/png": ".png", "image/jpeg": ".jpg", "image/gif": ".gif", "image/webp": ".webp"}

// parseImage reads a data: URL. Any other is refused: this server fetches nothing.
func parseImage(at, url string) (*image, *apiError) {
	text, ok := strings.CutPrefix(url, "data:")
	head, text, comma := strings.Cut(text, ",")
	kind, encoded := strings.CutSuffix(head, ";base64")
	if !ok || !comma || !encoded || endings[kind] == "" {
		return nil, refusal(at, "unsupported_value",
			"send the image itself, as data:image/png;base64,... (or jpeg, gif, webp): nothing is fetched")
	}
	data, err := base64.StdEncoding.DecodeString(text)
	if err != nil || http.DetectContentType(data) != kind {
		return nil, refusal(at, "invalid_image", "it is not %s in base64", kind)
	}
	return &image{endings[kind], data}, nil
}

// saveImages writes images where a CLI can look at them, until remove is called.
func saveImages(list []image) (names []string, remove func(), err error) {
	if len(list) == 0 {
		return nil, func() {}, nil
	}
	dir, err := os.MkdirTemp("", "clichain-serve-")
	if err != nil {
		return nil, nil, err
	}
	remove = func() { _ = os.RemoveAll(dir) } // what cannot be removed is in a folder for what nobody needs
	for i, img := range list {
		name := filepath.Join(dir, fmt.Sprintf("image-%d%s", i+1, img.ending))
		if err := os.WriteFile(name, img.data, 0o600); err != nil {
			remove()
			return nil, nil, err
		}
		names = append(names, name)
	}
	return names, remove, nil
}
