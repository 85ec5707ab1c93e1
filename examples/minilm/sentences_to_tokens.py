"""Prints the token ids of sentences as JSON: sentences_to_tokens.py TOKENIZER_JSON -- SENTENCE..."""
import json
import pathlib
import sys

from tokenizers import Tokenizer

tokenizer_json, sentences = pathlib.Path(sys.argv[1]), sys.argv[3:]
tokenizer = Tokenizer.from_file(str(tokenizer_json))
limit = json.loads((tokenizer_json.parent / "sentence_bert_config.json").read_text())["max_seq_length"]
tokenizer.no_padding()  # the encoder pads a batch itself, to its longest sentence
tokenizer.enable_truncation(max_length=limit)
print(json.dumps([encoding.ids for encoding in tokenizer.encode_batch(sentences)]))
