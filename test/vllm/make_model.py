"""Writes a Llama of two layers with random weights, and a tokenizer trained on the standard library.

usage: make_model.py FOLDER
"""

import json
import sys
import sysconfig
from pathlib import Path

import numpy
from safetensors.numpy import save_file
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

HIDDEN, LAYERS, HEADS, KV_HEADS, INNER, VOCABULARY, CONTEXT = 128, 2, 4, 2, 256, 4096, 65536
SPECIAL = ["<|end|>", "<|turn|>", "<|stop|>", "<|pad|>"]
TEMPLATE = (
    "{% for message in messages %}<|turn|>{{ message['role'] }}\n"
    "{% if message['content'] is string %}{{ message['content'] }}"
    "{% else %}{% for part in message['content'] %}{{ part['text'] }}{% endfor %}{% endif %}"
    "<|stop|>\n{% endfor %}{% if add_generation_prompt %}<|turn|>assistant\n{% endif %}"
)


def make_tokenizer(folder: Path) -> int:
    texts = sorted(str(path) for path in Path(sysconfig.get_path("stdlib")).glob("*.py"))
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY, special_tokens=SPECIAL, initial_alphabet=alphabet, show_progress=False
    )
    tokenizer.train(texts, trainer)
    tokenizer.save(str(folder / "tokenizer.json"))
    return tokenizer.get_vocab_size()


def weights(vocabulary: int) -> dict:
    random = numpy.random.default_rng(7)

    def matrix(*shape: int):
        return random.standard_normal(shape, dtype=numpy.float32) * 0.05

    ones = numpy.ones(HIDDEN, dtype=numpy.float32)
    kv_width = HIDDEN // HEADS * KV_HEADS
    tensors = {
        "model.embed_tokens.weight": matrix(vocabulary, HIDDEN),
        "model.norm.weight": ones.copy(),
        "lm_head.weight": matrix(vocabulary, HIDDEN),
    }
    for layer in range(LAYERS):
        name = f"model.layers.{layer}."
        tensors[name + "input_layernorm.weight"] = ones.copy()
        tensors[name + "post_attention_layernorm.weight"] = ones.copy()
        tensors[name + "self_attn.q_proj.weight"] = matrix(HIDDEN, HIDDEN)
        tensors[name + "self_attn.k_proj.weight"] = matrix(kv_width, HIDDEN)
        tensors[name + "self_attn.v_proj.weight"] = matrix(kv_width, HIDDEN)
        tensors[name + "self_attn.o_proj.weight"] = matrix(HIDDEN, HIDDEN)
        tensors[name + "mlp.gate_proj.weight"] = matrix(INNER, HIDDEN)
        tensors[name + "mlp.up_proj.weight"] = matrix(INNER, HIDDEN)
        tensors[name + "mlp.down_proj.weight"] = matrix(HIDDEN, INNER)
    return tensors


def main() -> None:
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    vocabulary = make_tokenizer(folder)
    files = {
        "tokenizer_config.json": {
            "tokenizer_class": "PreTrainedTokenizerFast",
            "eos_token": "<|stop|>",
            "pad_token": "<|pad|>",
            "model_max_length": CONTEXT,
            "clean_up_tokenization_spaces": False,
            "chat_template": TEMPLATE,
        },
        "special_tokens_map.json": {"eos_token": "<|stop|>", "pad_token": "<|pad|>"},
        "generation_config.json": {"eos_token_id": 2, "pad_token_id": 3},
        "config.json": {
            "architectures": ["LlamaForCausalLM"],
            "model_type": "llama",
            "hidden_size": HIDDEN,
            "intermediate_size": INNER,
            "num_hidden_layers": LAYERS,
            "num_attention_heads": HEADS,
            "num_key_value_heads": KV_HEADS,
            "head_dim": HIDDEN // HEADS,
            "vocab_size": vocabulary,
            "max_position_embeddings": CONTEXT,
            "rms_norm_eps": 1e-5,
            "rope_theta": 1e6,
            "hidden_act": "silu",
            "bos_token_id": 0,
            "eos_token_id": 2,
            "pad_token_id": 3,
            "tie_word_embeddings": False,
            "torch_dtype": "float32",
        },
    }
    for name, content in files.items():
        (folder / name).write_text(json.dumps(content, indent=1))
    save_file(weights(vocabulary), folder / "model.safetensors", metadata={"format": "pt"})


main()
