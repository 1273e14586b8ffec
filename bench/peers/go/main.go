// A server of Go's own net/http and encoding/json, as its users would write one. It does the jobs of arrays, records,
// text, files and forms: go build -o server . && ./server PORT
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"strings"
)

const maxBody = 64 << 20

// Answers an error as the other contenders do: with its status and a text.
func fail(w http.ResponseWriter, status int, err error) {
	http.Error(w, err.Error(), status)
}

func post(path string, answer func(w http.ResponseWriter, r *http.Request) error) {
	http.HandleFunc("POST "+path, func(w http.ResponseWriter, r *http.Request) {
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		if err := answer(w, r); err != nil {
			fail(w, http.StatusBadRequest, err)
		}
	})
}

// Reads the whole body, into memory of its announced size.
func bodyOf(r *http.Request) ([]byte, error) {
	buffer := bytes.NewBuffer(make([]byte, 0, max(512, r.ContentLength+1)))
	_, err := buffer.ReadFrom(r.Body)
	return buffer.Bytes(), err
}

func writeJSON(w http.ResponseWriter, value any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	w.Header().Set("content-type", "application/json")
	_, err = w.Write(text)
	return err
}

// Reads JSON of a type and writes it again.
func echo[T any](w http.ResponseWriter, r *http.Request) error {
	body, err := bodyOf(r)
	if err != nil {
		return err
	}
	var value T
	if err := json.Unmarshal(body, &value); err != nil {
		return err
	}
	return writeJSON(w, value)
}

type record struct {
	ID      int64   `json:"id"`
	Age     int64   `json:"age"`
	Income  float64 `json:"income"`
	Score   float64 `json:"score"`
	Stature float64 `json:"stature"`
	Weight  float64 `json:"weight"`
	Visits  int64   `json:"visits"`
	City    string  `json:"city"`
	Name    string  `json:"name"`
	Active  bool    `json:"active"`
}

type pair struct {
	A int64   `json:"a"`
	B float64 `json:"b"`
}

func echoText(w http.ResponseWriter, r *http.Request) error {
	body, err := bodyOf(r)
	if err != nil {
		return err
	}
	w.Header().Set("content-type", "text/plain; charset=utf-8")
	_, err = w.Write([]byte(strings.ToValidUTF8(string(body), "\ufffd")))
	return err
}

func stream(w http.ResponseWriter, r *http.Request) error {
	body, err := bodyOf(r)
	if err != nil {
		return err
	}
	w.Header().Set("content-type", "text/plain; charset=utf-8")
	flusher := w.(http.Flusher)
	for range 100 {
		if _, err := w.Write(body); err != nil {
			return nil
		}
		flusher.Flush()
	}
	return nil
}

func file(w http.ResponseWriter, r *http.Request) error {
	body, err := bodyOf(r)
	if err != nil {
		return err
	}
	w.Header().Set("content-type", "application/octet-stream")
	_, err = w.Write(body)
	return err
}

func form(w http.ResponseWriter, r *http.Request) error {
	reader, err := r.MultipartReader()
	if err != nil {
		return err
	}
	var sum float64
	var x json.Number
	var size int
	for {
		part, err := reader.NextPart()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		content, err := io.ReadAll(part)
		if err != nil {
			return err
		}
		switch part.FormName() {
		case "arr":
			var numbers []float64
			if err := json.Unmarshal(content, &numbers); err != nil {
				return err
			}
			for _, number := range numbers {
				sum += number
			}
		case "meta":
			var meta struct {
				X json.Number `json:"x"`
			}
			if err := json.Unmarshal(content, &meta); err != nil {
				return err
			}
			x = meta.X
		case "file":
			size = len(content)
		}
	}
	return writeJSON(w, map[string]any{"sum": sum, "x": x, "size": size})
}

func main() {
	post("/ndarray", echo[[][]float64])
	post("/series", echo[[]float64])
	post("/json", echo[any])
	post("/frame", func(w http.ResponseWriter, r *http.Request) error {
		body, err := bodyOf(r)
		if err != nil {
			return err
		}
		// Both kinds of records come here.
		if bytes.HasPrefix(body, []byte(`[{"a"`)) {
			var pairs []pair
			if err := json.Unmarshal(body, &pairs); err != nil {
				return err
			}
			return writeJSON(w, pairs)
		}
		var records []record
		if err := json.Unmarshal(body, &records); err != nil {
			return err
		}
		return writeJSON(w, records)
	})
	post("/text", echoText)
	post("/stream", stream)
	post("/file", file)
	post("/form", form)
	http.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "ok") })
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Args[1], nil))
}
