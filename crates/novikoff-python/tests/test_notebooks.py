"""The notebooks run from the first cell to the last.

``NOTEBOOKS=overwrite pytest test_notebooks.py`` writes down what they show now.
"""

import json
import os
import sys
from pathlib import Path

import pytest

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")
jupyter_client = pytest.importorskip("jupyter_client")

NOTEBOOKS = sorted((Path(__file__).parents[3] / "examples" / "notebooks").glob("*.ipynb"))


def kernel(folder):
    """A kernel of this Python, whatever others are installed."""
    spec = folder / "kernels" / "here"
    spec.mkdir(parents=True)
    command = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    spec.joinpath("kernel.json").write_text(
        json.dumps({"argv": command, "display_name": "here", "language": "python"})
    )
    specs = jupyter_client.kernelspec.KernelSpecManager(kernel_dirs=[str(folder / "kernels")])
    return jupyter_client.AsyncKernelManager(kernel_name="here", kernel_spec_manager=specs)


def without_what_changes(notebook):
    """The notebook without times, versions and what belongs to a machine, so that differences stay small."""
    notebook.metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    for cell in notebook.cells:
        cell.metadata = {}
        for output in cell.get("outputs", []):
            if "metadata" in output:
                output.metadata = {}
    return notebook


def test_there_are_notebooks():
    assert [path.stem for path in NOTEBOOKS] == ["perceptron", "table"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path, tmp_path):
    notebook = nbformat.read(path, as_version=4)
    client = nbclient.NotebookClient(
        notebook,
        km=kernel(tmp_path),
        timeout=300,
        coalesce_streams=True,
        resources={"metadata": {"path": str(tmp_path)}},
    )
    # A cell that raises is a CellExecutionError here.
    client.execute()
    if os.environ.get("NOTEBOOKS") == "overwrite":
        nbformat.write(without_what_changes(notebook), path)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_kept_with_its_pictures(path):
    notebook = nbformat.read(path, as_version=4)
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    assert sum("image/svg+xml" in output.get("data", {}) for output in outputs) >= 3
    assert all(cell.execution_count for cell in notebook.cells if cell.cell_type == "code")
    assert not any(output["output_type"] == "error" for output in outputs)
    assert notebook == without_what_changes(notebook.copy())
