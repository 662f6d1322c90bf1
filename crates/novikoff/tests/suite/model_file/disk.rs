//! Models on disk.

use super::models::*;
use novikoff::ErrorKind;
use novikoff::features::Schema;
use novikoff::model::{load, save};
use std::path::Path;

fn no_temporary_files(folder: &Path) -> bool {
    std::fs::read_dir(folder)
        .unwrap()
        .all(|entry| !entry.unwrap().file_name().to_string_lossy().ends_with(".tmp"))
}

#[test]
fn saving_and_loading_goes_through_files() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.safetensors");
    for model in [two_classes(), voted(), random_model(3)] {
        save(&model, &path).unwrap();
        assert_eq!(load(&path).unwrap(), model);
    }
    // Larger than the first look at it.
    let large = linear(&["0", "1"], Schema::one_based(), weights(1, &[0.0], &vec![1.5; 5000]));
    save(&large, &path).unwrap();
    assert_eq!(load(&path).unwrap(), large);
    assert!(no_temporary_files(folder.path()));
}

#[test]
fn saving_what_cannot_be_saved_leaves_the_old_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.safetensors");
    save(&two_classes(), &path).unwrap();
    let mut broken = voted();
    voted_of(&mut broken).mistakes[0].step = f64::NAN;
    let error = save(&broken, &path).unwrap_err();
    assert_eq!(error.place().unwrap().file, path.display().to_string());
    assert_eq!(load(&path).unwrap(), two_classes());
    let error = save(&two_classes(), &folder.path().join("none/model")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Io);
    assert!(error.what().contains("there is no folder") && error.advice().is_some());
    assert!(no_temporary_files(folder.path()));
}

#[test]
fn loading_what_is_no_file_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let told = load(folder.path()).unwrap_err();
    assert!(told.what().contains("a folder"), "{told}");
    assert_eq!(load(&folder.path().join("none")).unwrap_err().kind(), ErrorKind::Io);
    if cfg!(unix) {
        assert!(load(Path::new("/dev/zero")).unwrap_err().what().contains("a device"));
    }
    let path = folder.path().join("data.txt");
    std::fs::write(&path, "+1 1:0.5\n".repeat(10_000)).unwrap();
    assert!(load(&path).unwrap_err().advice().unwrap().contains("text"));
    // A file with a hole of a terabyte that no header accounts for: refused without reading it.
    let hole = folder.path().join("hole");
    let file = std::fs::File::create(&hole).unwrap();
    if file.set_len(1 << 40).is_ok() {
        assert!(load(&hole).is_err());
    }
}
